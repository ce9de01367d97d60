//! Tier 0: who asks. These start the program itself, since it logs in once for each process.

use crate::harness::Fuel;

#[test]
fn the_program_logs_in_and_shows_the_version() {
    let fuel = Fuel::new();
    let ended = fuel.program(&[], &["fuel-version", "-f", "json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let version: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    for field in ["api", "auth_required", "feature_groups", "openstack_version", "release"] {
        assert!(!version[field].is_null(), "{field}: {version}");
    }
}

#[test]
fn a_wrong_password_is_told_and_nothing_else() {
    let fuel = Fuel::new();
    for options in [["--os-password", "wrong"], ["--os-username", "nobody"], ["--os-tenant-name", "nowhere"]]
    {
        let ended = fuel.program(&options, &["env", "list"]);
        assert_eq!(ended.code, 1, "{options:?}: {ended:?}");
        assert!(ended.stdout.is_empty(), "{ended:?}");
        assert!(ended.stderr.to_lowercase().contains("401"), "{options:?}: {ended:?}");
        assert!(!ended.stderr.contains("Traceback"), "{ended:?}");
    }
}

#[test]
fn options_name_another_user() {
    let fuel = Fuel::new();
    fuel.create("tenants", &serde_json::json!({"name": "shop"}));
    let user =
        serde_json::json!({"name": "eve", "password": "secret", "tenant": "shop", "roles": ["member"]});
    fuel.create("users", &user);
    let options = ["--os-username", "eve", "--os-password", "secret", "--os-tenant-name", "shop"];
    let ended = fuel.program(&options, &["env", "list", "-f", "json"]);
    assert_eq!((ended.code, ended.stdout.trim()), (0, "[]"), "{ended:?}");
    // Who is no admin reads.
    let ended = fuel.program(&options, &["env", "create", "x", "-r", "1"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.starts_with("403 "), "{ended:?}");
}
