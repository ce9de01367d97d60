//! Saving and putting back.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use stoker_testkit::Folder;

use crate::process::Process;

fn stoker(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(arguments).arg("--data-dir").arg(folder).env_remove("STOKER_DATABASE_URL").output().unwrap()
}

#[test]
fn a_saved_database_can_be_put_back() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let server = Process::start(folder.path());
    let client = server.client();
    client.expect(201, "POST", "/api/v1/tenants", Some(&json!({"name": "before"})));
    let file = elsewhere.file("saved.db");
    let file = file.to_str().unwrap();
    let saved = stoker(&["backup", file], folder.path());
    assert!(saved.status.success(), "{saved:?}");
    let twice = stoker(&["backup", file], folder.path());
    assert_eq!(twice.status.code(), Some(5), "an old copy is not overwritten");
    assert!(String::from_utf8_lossy(&twice.stderr).contains("save to a file that is not there"), "{twice:?}");
    client.expect(201, "POST", "/api/v1/tenants", Some(&json!({"name": "after"})));

    let in_use = stoker(&["restore", "--force", file], folder.path());
    assert_eq!(in_use.status.code(), Some(5), "{in_use:?}");
    server.terminate();
    let careful = stoker(&["restore", file], folder.path());
    assert_eq!(careful.status.code(), Some(5), "not without --force");
    assert!(String::from_utf8_lossy(&careful.stderr).contains("`--force` replaces it"), "{careful:?}");
    let restored = stoker(&["restore", "--force", file], folder.path());
    assert!(restored.status.success(), "{restored:?}");
    let fresh = stoker(&["restore", file], &elsewhere.file("new/folder"));
    assert!(fresh.status.success(), "{fresh:?}");
    for place in [folder.path(), &elsewhere.file("new/folder")] {
        let server = Process::start(place);
        let tenants = server.client().expect(200, "GET", "/api/v1/tenants?order_by=name", None);
        let names: Vec<&str> =
            tenants.as_array().unwrap().iter().map(|tenant| tenant["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["admin", "before"]);
    }
}

#[test]
fn nothing_to_save_and_nothing_to_put_back() {
    let folder = Folder::new();
    assert_eq!(stoker(&["backup", "x.db"], folder.path()).status.code(), Some(5));
    let nonsense = folder.file("nonsense");
    std::fs::write(&nonsense, "no database").unwrap();
    let refused = stoker(&["restore", nonsense.to_str().unwrap()], &folder.file("target"));
    assert_eq!(refused.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is no backup"), "{refused:?}");
}
