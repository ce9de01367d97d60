//! The commands of the quick start guide, executed as written.

use std::path::PathBuf;
use std::process::Command;

use stoker_testkit::TempFolder;

use crate::process::{PASSWORD, Process};

const DOCUMENT: &str = include_str!("../../../../docs/start.md");
/// Server address used in the guide.
const ADDRESS: &str = "127.0.0.1:8000";

/// Returns all commands of the guide except those that start the server, which is already running.
fn script(address: &str) -> String {
    let mut blocks = Vec::new();
    let mut lines = DOCUMENT.lines();
    while let Some(line) = lines.next() {
        if line == "```sh" {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(block.join("\n"));
        }
    }
    let idx = blocks.iter().position(|block| block.contains("stoker serve")).unwrap();
    blocks.remove(idx);
    // Skip the confirmation prompt: there is no terminal.
    blocks.join("\n").replace(ADDRESS, address).replace("stoker apply --env 1", "stoker apply --env 1 --yes")
}

#[test]
fn quick_start_works_as_written() {
    assert!(DOCUMENT.contains(PASSWORD), "the guide and the tests use the same password");
    let folder = TempFolder::new();
    let server = Process::start_with(&folder.file("data"), &["--local-agents"]);
    let program = PathBuf::from(env!("CARGO_BIN_EXE_stoker"));
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script(&server.address)])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .env("HOME", folder.path())
        .env_remove("XDG_CONFIG_HOME")
        .env("STOKER_PASSWORD", PASSWORD)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    for expected in [
        "run  install-database on 1",
        "3 to run, 3 to skip",
        "install-shop succeeded",
        "settings.common.debug.value changed from false to true",
        "2 to run, 4 to skip",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in\n{text}");
    }
    // The last plan contains only tasks that depend on the setting.
    let last = text.rsplit("install-database").next().unwrap();
    assert!(last.contains("has changed"), "{text}");
}
