//! Runs the real binary.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

/// Returns the workspace root. All tests run there, so that paths in messages are the same on every machine.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn run_bytes(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stoker"))
        .args(arguments)
        .current_dir(root())
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may exit without reading all input.
    let writer = thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Returns the exit code, standard output and standard error as one text.
#[allow(dead_code, reason = "not every test file takes snapshots")]
pub(crate) fn run(arguments: &[&str], input: &str) -> String {
    let output = run_bytes(arguments, input.as_bytes());
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    format!("exit code {}\n--- stdout\n{stdout}--- stderr\n{stderr}", output.status.code().unwrap())
}

/// Like [`run`] for `stoker yaql` without input.
#[allow(dead_code, reason = "not every test file takes snapshots")]
pub(crate) fn yaql(arguments: &[&str]) -> String {
    run(&[&["yaql"], arguments].concat(), "")
}
