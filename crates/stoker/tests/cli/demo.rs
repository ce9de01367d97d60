//! `stoker demo`: completes, and cleans up after itself.

use std::process::{Command, Stdio};

use stoker_testkit::TempFolder;

use crate::fixture::{execute, program, run_command};
use crate::screen::{Screen, record_output};
use crate::transcript::Transcript;

#[test]
fn demo_completes_and_cleans_up() {
    let folder = TempFolder::new();
    let mut command = program(folder.path(), &["demo"]);
    command.env("TMPDIR", folder.path()).env("COLUMNS", "80");
    let output = execute(command, "");
    let mut transcript = Transcript::default();
    let text = String::from_utf8_lossy(&output.stdout);
    let url = text.split_once("listens on ").and_then(|(_, rest)| rest.split_whitespace().next()).unwrap();
    transcript.replace(url, "http://SERVER");
    transcript.record(&["demo"], "", &output);
    // Nodes work concurrently, so the order of their progress differs between executions; it is asserted
    // below.
    let is_progress = |line: &&str| line.starts_with("TIME run ");
    let transcript = transcript.take();
    let lines: Vec<&str> = transcript.lines().filter(|line| !is_progress(line)).collect();
    insta::assert_snapshot!("demo", lines.join("\n"));
    // Pre-deployment tasks of plugins run on all nodes before the deployment, ordered by their numbers.
    let (first, last) = (|word: &str| text.find(word), |word: &str| text.rfind(word));
    assert!(last("raise-grid succeeded") < first("prepare-agent started"), "{text}");
    assert!(last("prepare-agent succeeded") < first("install-agent started"), "{text}");
    assert!(first("raise-grid started").is_some() && last("prepare-agent succeeded").is_some(), "{text}");
    let leftovers: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

/// Output on a terminal: no broken lines, and no leftovers of the progress display.
#[test]
fn demo_fits_the_terminal() {
    for columns in [80, 160] {
        let folder = TempFolder::new();
        let mut command = program(folder.path(), &["demo"]);
        command.env("TMPDIR", folder.path());
        let mut screen = Screen::new(columns);
        screen.feed(&record_output(command, columns));
        // Commands and diagnostics are not wrapped.
        let may_wrap = |line: &&String| {
            ["$ stoker", "error", "warning", "  "].iter().any(|start| line.starts_with(start))
        };
        let broken: Vec<&String> = screen.broken.iter().filter(|line| !may_wrap(line)).collect();
        assert!(broken.is_empty(), "at {columns}: {broken:#?}");
        // Search with and without line breaks: the terminal may have wrapped a line.
        let text = format!("{}\n{}", screen.text(), screen.text().replace('\n', ""));
        for word in ["vCenter is not compatible", "20 to run", "4 to run", "succeeded", "Demo finished"] {
            assert!(text.contains(word), "at {columns}: `{word}` is not in:\n{text}");
        }
        // Names of tasks and plugins are not broken.
        for name in ["install-database", "prepare-agent", "raise-grid-done"] {
            assert!(text.contains(name), "at {columns}: `{name}` is not in:\n{text}");
        }
    }
}

#[test]
fn kept_server_can_be_used_and_stopped() {
    let folder = TempFolder::new();
    let mut command = program(folder.path(), &["demo", "--keep"]);
    command.env("TMPDIR", folder.path()).env("COLUMNS", "80");
    let text = run_command(command, "").ok();
    let word_after = |label: &str| {
        let (_, rest) = text.rsplit_once(label).unwrap_or_else(|| panic!("no `{label}` in:\n{text}"));
        rest.split_whitespace().next().unwrap().to_owned()
    };
    let (url, password, id) =
        (word_after("--server"), word_after("password"), word_after("stop it with kill"));
    let mut command = program(folder.path(), &["env", "show", "1", "--output", "json"]);
    command.env("STOKER_SERVER", url).env("STOKER_PASSWORD", password);
    let cluster = run_command(command, "");
    assert!(Command::new("kill").arg(&id).stdout(Stdio::null()).status().unwrap().success());
    assert_eq!(cluster.json()["status"], "operational");
}
