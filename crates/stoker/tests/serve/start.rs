//! Start and shutdown of the server, and its startup messages.

use std::net::TcpListener;

use serde_json::json;
use stoker_testkit::{TempFolder, TestDatabase};

use crate::process::{Client, PASSWORD, Process, bare_command, command};
use crate::transcript::Transcript;

#[test]
fn first_start_prints_the_password_once() {
    let folder = TempFolder::new();
    let mut first = bare_command();
    first.arg("--data-dir").arg(folder.file("new/deep"));
    let server = Process::run(first);
    assert!(server.startup_lines[0].contains("shown only once"), "{:?}", server.startup_lines);
    let password = server.startup_lines[1].trim().to_owned();
    Client::log_in(&server.address, &password).expect(200, "GET", "/api/v1/users/me", None);
    assert!(server.terminate().success());

    let mut second = bare_command();
    second.arg("--data-dir").arg(folder.file("new/deep")).env("STOKER_ADMIN_PASSWORD", "another");
    let server = Process::run(second);
    assert!(server.startup_lines.is_empty(), "{:?}", server.startup_lines);
    Client::log_in(&server.address, &password);
}

#[test]
fn health_and_version_are_public() {
    let folder = TempFolder::new();
    let server = Process::start(folder.path());
    for path in ["/health", "/api/v1/health", "/api/v1/version/", "/api/v1/openapi.json", "/api/v1/docs"] {
        let url = format!("http://{}{path}", server.address);
        assert_eq!(ureq::get(&url).call().unwrap().status(), 200, "{path}");
    }
    let mut page = ureq::get(format!("http://{}/api/v1/docs", server.address)).call().unwrap();
    assert!(page.body_mut().read_to_string().unwrap().contains("/api/v1/graphs"));
}

#[test]
fn failed_start_reports_the_reason() {
    let folder = TempFolder::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut busy = command(folder.path());
    let output = busy.args(["--listen", &address]).output().unwrap();
    // Either clap rejects the second `--listen`, or the port is in use.
    assert!(!output.status.success());

    let mut no_server = bare_command();
    let output = no_server.args(["--database-url", "postgres://stoker@127.0.0.1:1/none"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let mut transcript = Transcript::default();
    transcript.record(&["serve", "--database-url", "postgres://stoker@127.0.0.1:1/none"], "", &output);
    insta::assert_snapshot!(transcript.take());

    std::fs::write(folder.file("file"), "").unwrap();
    let mut no_folder = bare_command();
    let output = no_folder.arg("--data-dir").arg(folder.file("file")).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn server_runs_on_postgres() {
    let Some(database) = TestDatabase::create().await else { return };
    let stoker_store::Database::Postgres { url } = database.database() else { panic!("not PostgreSQL") };
    let folder = TempFolder::new();
    let mut command = bare_command();
    command.env("STOKER_DATABASE_URL", url).env("STOKER_ADMIN_PASSWORD", PASSWORD);
    command.arg("--modules-key-file").arg(folder.file("modules.key"));
    let server = Process::run(command);
    let client = server.client();
    let release = json!({"name": "r", "version": "1", "operating_system": "Ubuntu"});
    let id = client.expect(201, "POST", "/api/v1/releases/", Some(&release))["id"].clone();
    client.expect(200, "GET", &format!("/api/v1/releases/{id}"), None);
    assert!(server.terminate().success());
    database.drop_database();
}

#[test]
fn invalid_helper_fails_the_start_with_its_location() {
    let folder = TempFolder::new();
    std::fs::create_dir(folder.file("helpers")).unwrap();
    let file = folder.file("helpers/own.yaml");
    std::fs::write(&file, "functions:\n  - name: moved\n    body: changed($.x) and lenn($.y)\n").unwrap();
    let mut broken = command(folder.path());
    let output = broken.arg("--helpers").arg(folder.file("helpers")).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let mut transcript = Transcript::default();
    transcript.replace_path(folder.path(), "FOLDER");
    transcript.record(&["serve", "--helpers", "FOLDER/helpers"], "", &output);
    insta::assert_snapshot!(transcript.take());
    std::fs::write(&file, "functions:\n  - name: moved\n    body: changed($.x)\n").unwrap();
    let mut fixed = command(folder.path());
    fixed.arg("--helpers").arg(&file).args(["--limit-iterators", "50000", "--memory-quota", "1000000"]);
    assert!(Process::run(fixed).terminate().success());
}
