//! Authentication. Runs the executable, because the client logs in once per process.

use crate::harness::Fuel;

#[test]
fn client_logs_in_and_shows_the_version() {
    let fuel = Fuel::new();
    let output = fuel.program(&[], &["fuel-version", "-f", "json"]);
    assert_eq!(output.code, 0, "{output:?}");
    let version: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    for field in ["api", "auth_required", "feature_groups", "openstack_version", "release"] {
        assert!(!version[field].is_null(), "{field}: {version}");
    }
}

#[test]
fn wrong_credentials_are_rejected() {
    let fuel = Fuel::new();
    for options in [["--os-password", "wrong"], ["--os-username", "nobody"], ["--os-tenant-name", "nowhere"]]
    {
        let output = fuel.program(&options, &["env", "list"]);
        assert_eq!(output.code, 1, "{options:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        assert!(output.stderr.to_lowercase().contains("401"), "{options:?}: {output:?}");
        assert!(!output.stderr.contains("Traceback"), "{output:?}");
    }
}

#[test]
fn options_select_another_user() {
    let fuel = Fuel::new();
    fuel.create("tenants", &serde_json::json!({"name": "shop"}));
    let user =
        serde_json::json!({"name": "eve", "password": "secret", "tenant": "shop", "roles": ["member"]});
    fuel.create("users", &user);
    let options = ["--os-username", "eve", "--os-password", "secret", "--os-tenant-name", "shop"];
    let output = fuel.program(&options, &["env", "list", "-f", "json"]);
    assert_eq!((output.code, output.stdout.trim()), (0, "[]"), "{output:?}");
    // Users without the admin role can only read.
    let output = fuel.program(&options, &["env", "create", "x", "-r", "1"]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stderr.starts_with("403 "), "{output:?}");
}
