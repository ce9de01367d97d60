//! `stoker demo`: the story is told to its end, and nothing is left of it.

use std::process::{Command, Stdio};

use stoker_testkit::Folder;

use crate::desk::{program, said};

#[test]
fn the_demo_tells_its_story_and_cleans_up() {
    let folder = Folder::new();
    let mut command = program(folder.path(), &["demo"]);
    command.env("TMPDIR", folder.path()).env("COLUMNS", "80");
    let said = said(command, "");
    let told = format!("{}{}", said.out, said.err);
    let words = [
        "vCenter is not compatible with GridNet",
        "did you mean `shell`?",
        "20 to run",
        "4 to run",
        "was false and is true",
        "That was the demo.",
    ];
    for word in words {
        assert!(told.contains(word), "`{word}` is not in:\n{told}");
    }
    said.ok();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_is_kept_can_be_used_and_ended() {
    let folder = Folder::new();
    let mut command = program(folder.path(), &["demo", "--keep"]);
    command.env("TMPDIR", folder.path()).env("COLUMNS", "80");
    let told = said(command, "").ok();
    let after = |label: &str| {
        let (_, rest) = told.rsplit_once(label).unwrap_or_else(|| panic!("no `{label}` in:\n{told}"));
        rest.split_whitespace().next().unwrap().to_owned()
    };
    let (url, password, id) = (after("--server"), after("password"), after("end it with  kill"));
    let mut command = program(folder.path(), &["env", "show", "1", "--output", "json"]);
    command.env("STOKER_SERVER", url).env("STOKER_PASSWORD", password);
    let cluster = said(command, "");
    assert!(Command::new("kill").arg(&id).stdout(Stdio::null()).status().unwrap().success());
    assert_eq!(cluster.json()["status"], "operational");
}
