//! `stoker backup` and `stoker restore`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use stoker_testkit::TempFolder;

use crate::process::Process;

fn stoker(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(arguments).arg("--data-dir").arg(folder).env_remove("STOKER_DATABASE_URL").output().unwrap()
}

#[test]
fn backup_can_be_restored() {
    let (folder, elsewhere) = (TempFolder::new(), TempFolder::new());
    let server = Process::start(folder.path());
    let client = server.client();
    client.expect(201, "POST", "/api/v1/tenants", Some(&json!({"name": "before"})));
    let file = elsewhere.file("saved.db");
    let file = file.to_str().unwrap();
    let output = stoker(&["backup", file], folder.path());
    assert!(output.status.success(), "{output:?}");
    let second_backup = stoker(&["backup", file], folder.path());
    assert_eq!(second_backup.status.code(), Some(5), "an existing backup is not overwritten");
    assert!(
        String::from_utf8_lossy(&second_backup.stderr).contains("choose a file that does not exist"),
        "{second_backup:?}"
    );
    client.expect(201, "POST", "/api/v1/tenants", Some(&json!({"name": "after"})));

    let in_use = stoker(&["restore", "--force", file], folder.path());
    assert_eq!(in_use.status.code(), Some(5), "{in_use:?}");
    server.terminate();
    let without_force = stoker(&["restore", file], folder.path());
    assert_eq!(without_force.status.code(), Some(5), "`--force` is required");
    assert!(
        String::from_utf8_lossy(&without_force.stderr).contains("pass `--force` to replace it"),
        "{without_force:?}"
    );
    let restored = stoker(&["restore", "--force", file], folder.path());
    assert!(restored.status.success(), "{restored:?}");
    let fresh = stoker(&["restore", file], &elsewhere.file("new/folder"));
    assert!(fresh.status.success(), "{fresh:?}");
    for data_dir in [folder.path(), &elsewhere.file("new/folder")] {
        let server = Process::start(data_dir);
        let tenants = server.client().expect(200, "GET", "/api/v1/tenants?order_by=name", None);
        let names: Vec<&str> =
            tenants.as_array().unwrap().iter().map(|tenant| tenant["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["admin", "before"]);
    }
}

#[test]
fn missing_database_and_invalid_backup_are_rejected() {
    let folder = TempFolder::new();
    assert_eq!(stoker(&["backup", "x.db"], folder.path()).status.code(), Some(5));
    let nonsense = folder.file("nonsense");
    std::fs::write(&nonsense, "no database").unwrap();
    let output = stoker(&["restore", nonsense.to_str().unwrap()], &folder.file("target"));
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not a Stoker backup"), "{output:?}");
}
