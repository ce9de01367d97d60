//! `stoker demo`: the story is told to its end, and nothing is left of it.

use std::process::{Command, Stdio};

use stoker_testkit::Folder;

use crate::desk::{program, said};
use crate::screen::{Screen, recorded};

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
    // What plugins do before the deployment is done everywhere before it begins, by their numbers.
    let (first, last) = (|text: &str| told.find(text), |text: &str| told.rfind(text));
    assert!(last("raise-grid is done") < first("prepare-agent begins"), "{told}");
    assert!(last("prepare-agent is done") < first("install-agent begins"), "{told}");
    assert!(first("raise-grid begins").is_some() && last("prepare-agent is done").is_some(), "{told}");
    said.ok();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// As somebody at a terminal sees it: nothing is broken, and nothing of what was shown meanwhile is left.
#[test]
fn the_demo_fits_the_terminal() {
    for columns in [80, 160] {
        let folder = Folder::new();
        let mut command = program(folder.path(), &["demo"]);
        command.env("TMPDIR", folder.path());
        let mut screen = Screen::new(columns);
        screen.feed(&recorded(command, columns));
        // Commands and mistakes are as long as they are.
        let may_break = |line: &&String| {
            ["$ stoker", "error", "warning", "  "].iter().any(|start| line.starts_with(start))
        };
        let broken: Vec<&String> = screen.broken.iter().filter(|line| !may_break(line)).collect();
        assert!(broken.is_empty(), "at {columns}: {broken:#?}");
        // A line that the terminal broke is one line.
        let told = format!("{}\n{}", screen.text(), screen.text().replace('\n', ""));
        for word in ["vCenter is not compatible", "20 to run", "4 to run", "is done", "That was the demo."] {
            assert!(told.contains(word), "at {columns}: `{word}` is not in:\n{told}");
        }
        // Names of tasks and plugins are whole.
        for name in ["install-database", "prepare-agent", "raise-grid-done"] {
            assert!(told.contains(name), "at {columns}: `{name}` is not in:\n{told}");
        }
    }
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
