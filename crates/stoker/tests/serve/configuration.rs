//! Configuration files of `stoker serve` and `stoker agent`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use stoker_testkit::TempFolder;

use crate::process::{Client, Process};
use crate::transcript::Transcript;

const VARIABLES: [&str; 6] = [
    "STOKER_ADMIN_PASSWORD",
    "STOKER_DATABASE_URL",
    "STOKER_JOIN_TOKEN",
    "STOKER_LOG",
    "STOKER_NATS_URL",
    "STOKER_SERVER",
];

fn stoker(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(arguments).env("COLUMNS", "100").env_remove("CLICOLOR_FORCE");
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command
}

/// Returns the exit code, standard output and standard error.
fn output(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn transcript_of(folder: &TempFolder) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.replace_path(folder.path(), "FOLDER");
    transcript
}

fn write(folder: &TempFolder, content: &str) -> PathBuf {
    let path = folder.file("stoker.toml");
    std::fs::write(&path, content).unwrap();
    path
}

fn show(program: &str, config: &Path, flags: &[&str], variables: &[(&str, &str)]) -> Vec<Value> {
    let mut command = stoker(&["config", "show", program, "--output", "json", "--config"]);
    command.arg(config).arg("--").args(flags).envs(variables.iter().copied());
    let (code, out, err) = output(&mut command);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn row<'a>(rows: &'a [Value], key: &str) -> &'a Value {
    rows.iter().find(|row| row["key"] == key).unwrap()
}

#[test]
fn all_problems_of_a_file_are_reported_with_their_position() {
    let folder = TempFolder::new();
    let mut transcript = transcript_of(&folder);
    let path = write(&folder, "lisen = '127.0.0.1:0'\n\nlease = 1\nserver = ['http://127.0.0.1:1']\n");
    let path = path.to_str().unwrap();
    for arguments in [&["serve", "--config", path][..], &["config", "show", "serve", "--config", path]] {
        transcript.record(arguments, "", &stoker(arguments).output().unwrap());
    }
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn unreadable_files_and_misplaced_flags_are_rejected() {
    let folder = TempFolder::new();
    let mut transcript = transcript_of(&folder);
    let missing = folder.file("missing.toml").display().to_string();
    let mut record = |arguments: &[&str], code: i32| {
        let output = stoker(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {output:?}");
        transcript.record(arguments, "", &output);
    };
    record(&["serve", "--config", &missing], 3);
    for arguments in [
        &["serve", "--config"][..],
        &["serve", "--config", "a", "--config", "b"],
        &["serve", "--admin-password", "x"],
        &["config", "show", "--config", "a"],
        &["config", "show", "demo"],
        &["config", "show", "serve", "--config", "a", "--", "--config", "b"],
        &["config", "show", "serve", "--", "--lease", "1"],
        &["config", "example"],
        &["agent"],
    ] {
        record(arguments, 2);
    }
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn invalid_combination_names_the_line() {
    let folder = TempFolder::new();
    let path = write(&folder, "tls_cert = '/c.pem'\n");
    let mut transcript = transcript_of(&folder);
    let arguments = ["serve", "--config", path.to_str().unwrap()];
    transcript.record(&arguments, "", &stoker(&arguments).output().unwrap());
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn origins_are_shown_and_secrets_are_masked() {
    let folder = TempFolder::new();
    let content =
        "admin_password = 'hunter2'\ndatabase_url = 'postgres://a:hunter2@db/x'\nlease = 20\nlog = 'info'\n";
    let path = write(&folder, content);
    let variables = [("STOKER_NATS_URL", "nats://hunter2@nats:4222")];
    let rows = show("serve", &path, &["--log", "debug"], &variables);
    assert!(!json!(rows).to_string().contains("hunter2"), "{rows:?}");
    let file = path.to_str().unwrap();
    let from = |key: &str, value: Value, unit: Value, origin: &str, variable: Value, line: Value| {
        let file = if line.is_null() { Value::Null } else { json!(file) };
        json!({
            "key": key, "value": value, "unit": unit, "origin": origin, "variable": variable, "file": file, "line": line,
        })
    };
    let null = Value::Null;
    let expected = [
        from("admin_password", json!("****"), null.clone(), "file", null.clone(), json!(1)),
        from("database_url", json!("postgres://a:****@db/x"), null.clone(), "file", null.clone(), json!(2)),
        from("lease", json!(20), json!("seconds"), "file", null.clone(), json!(3)),
        from("log", json!("debug"), null.clone(), "flag", null.clone(), null.clone()),
        from(
            "nats",
            json!("nats://****@nats:4222"),
            null.clone(),
            "environment",
            json!("STOKER_NATS_URL"),
            null.clone(),
        ),
        from("listen", json!("127.0.0.1:8000"), null.clone(), "default", null.clone(), null),
    ];
    for row_expected in expected {
        assert_eq!(row(&rows, row_expected["key"].as_str().unwrap()), &row_expected);
    }
    let mut transcript = transcript_of(&folder);
    let arguments = ["config", "show", "serve", "--config", file];
    transcript.record(&arguments, "", &stoker(&arguments).output().unwrap());
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn server_starts_with_the_options_of_the_file() {
    let folder = TempFolder::new();
    let data = folder.file("data");
    let content = format!(
        "listen = '127.0.0.1:99999'\ndata_dir = '{}'\nadmin_password = 'opensesame'\nname = 'from-file'\n",
        data.display()
    );
    let path = write(&folder, &content);
    let mut transcript = transcript_of(&folder);
    let arguments = ["serve", "--config", path.to_str().unwrap()];
    transcript.record(&arguments, "", &stoker(&arguments).output().unwrap());
    insta::assert_snapshot!(transcript.take());

    std::fs::write(&path, content.replace("127.0.0.1:99999", "127.0.0.1:0")).unwrap();
    let mut command = stoker(&["serve", "--config"]);
    command.arg(&path);
    let server = Process::run(command);
    assert!(data.join("stoker.db").exists());
    let client = Client::log_in(&server.address, "opensesame");
    let servers = client.expect(200, "GET", "/api/v1/servers", None);
    assert_eq!(servers[0]["name"], "from-file", "{servers}");
    assert!(server.terminate().success());

    let mut command = stoker(&["serve", "--name", "from-flag", "--config"]);
    command.arg(&path);
    let server = Process::run(command);
    let servers = Client::log_in(&server.address, "opensesame").expect(200, "GET", "/api/v1/servers", None);
    assert_eq!(servers[0]["name"], "from-flag", "{servers}");
}

#[test]
fn agent_reads_server_and_state_from_the_file() {
    let folder = TempFolder::new();
    let state = folder.file("state");
    let path = write(&folder, &format!("state = '{}'\n", state.display()));
    let mut transcript = transcript_of(&folder);
    let arguments = ["agent", "--config", path.to_str().unwrap()];
    transcript.record(&arguments, "", &stoker(&arguments).output().unwrap());
    // With a server, the agent gets as far as joining, which needs a token.
    let with_server = stoker(&arguments).env("STOKER_SERVER", "http://127.0.0.1:1").output().unwrap();
    transcript.record(&arguments, "", &with_server);
    insta::assert_snapshot!(transcript.take());
    assert!(state.exists());

    let rows = show("agent", &path, &["--stdio", "--node", "5"], &[("STOKER_SERVER", "http://127.0.0.1:1")]);
    assert_eq!(row(&rows, "server")["origin"], "default");
}

#[test]
fn packaged_files_are_valid_and_contain_only_defaults() {
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    for (program, set) in [("serve", &[][..]), ("agent", &["server"])] {
        let rows = show(program, &packaging.join(format!("{program}.toml")), &[], &[]);
        let is_set = |row: &&Value| row["origin"] != "default";
        let keys: Vec<&Value> = rows.iter().filter(is_set).map(|row| &row["key"]).collect();
        assert_eq!(keys, set);
    }
}
