//! Runs the reference implementation in subprocesses.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Oracle {
    python: PathBuf,
    process: Process,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    /// Starts Python YAQL and checks that it responds.
    pub(crate) fn start(python: &Path) -> Result<Self, String> {
        let mut oracle = Self { python: python.to_owned(), process: spawn(python)? };
        match oracle.ask("{\"expr\": \"[1, 2].select($ + 1).sum()\"}") {
            Some(answer) if answer == "{\"ok\": 5}" => Ok(oracle),
            other => Err(format!("`{}` does not run the reference: it returned {other:?}", python.display())),
        }
    }

    pub(crate) fn ask(&mut self, request: &str) -> Option<String> {
        self.ask_all(&[request.to_owned()]).pop().flatten()
    }

    /// Returns the responses in order; `None` for requests that crashed Python YAQL.
    pub(crate) fn ask_all(&mut self, requests: &[String]) -> Vec<Option<String>> {
        let mut answers: Vec<Option<String>> = Vec::with_capacity(requests.len());
        while answers.len() < requests.len() {
            let pending = &requests[answers.len()..];
            let Process { requests: sink, answers: source, .. } = &mut self.process;
            std::thread::scope(|scope| {
                // Writing and reading concurrently, because full pipes would deadlock both sides.
                scope.spawn(move || {
                    for request in pending {
                        if writeln!(sink, "{request}").is_err() {
                            break;
                        }
                    }
                    _ = sink.flush();
                });
                for _ in pending {
                    let mut line = String::new();
                    match source.read_line(&mut line) {
                        Ok(length) if length > 0 => answers.push(Some(line.trim_end().to_owned())),
                        _ => break,
                    }
                }
            });
            if answers.len() < requests.len() {
                answers.push(None);
                match spawn(&self.python) {
                    Ok(process) => self.process = process,
                    Err(_) => answers.resize(requests.len(), None),
                }
            }
        }
        answers
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn spawn(python: &Path) -> Result<Process, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .env("PYTHONHASHSEED", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{}` cannot be started: {error}", python.display()))?;
    let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the reference has no pipes".to_owned());
    };
    Ok(Process { child, requests, answers: BufReader::new(answers) })
}
