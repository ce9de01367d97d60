//! Tests with real programs on this machine.

#![expect(clippy::unwrap_used, reason = "test helpers may panic")]
#![expect(clippy::disallowed_methods, reason = "tests read the clock and the environment")]

mod files;
mod programs;
mod runners;
mod termination;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use stoker_engine::session::{Mode, Stream};
use stoker_model::Json;
use stoker_tasks::host::Work;
use stoker_tasks::host::real::{Machine, Memory, ProcessId, RealHost};
use stoker_tasks::output::{KEPT_BYTES, Report};
use stoker_tasks::{HostError, Order, Outcome, Stop, StopReason, Stopper, execute};
use stoker_testkit::Folder;

/// Machine that runs one attempt at a time.
struct Bench {
    folder: Folder,
    machine: Machine,
    output: Arc<Mutex<[String; 2]>>,
    secrets: Vec<String>,
    notes: Arc<Notes>,
}

#[derive(Default)]
struct Notes {
    started: Mutex<Vec<ProcessId>>,
    boots: Mutex<Vec<String>>,
}

impl Memory for Notes {
    fn started(&self, process: ProcessId) {
        self.started.lock().unwrap().push(process);
    }

    fn rebooting(&self, boot_id: String) -> Work<'_, Result<(), HostError>> {
        self.boots.lock().unwrap().push(boot_id);
        Box::pin(async { Ok(()) })
    }
}

impl Bench {
    fn new() -> Self {
        let folder = Folder::new();
        let mut machine = Machine::new(folder.path().to_owned());
        machine.grace = Duration::from_millis(200);
        Self { folder, machine, output: Arc::default(), secrets: Vec::new(), notes: Arc::default() }
    }

    fn host(&self, stop: Stop) -> RealHost {
        let output = Arc::clone(&self.output);
        let sink = move |stream: Stream, _, text: String| {
            output.lock().unwrap()[usize::from(stream == Stream::Err)].push_str(&text);
        };
        let notes: Arc<dyn Memory> = Arc::clone(&self.notes) as _;
        RealHost {
            machine: Arc::new(self.machine.clone()),
            report: Arc::new(Report::new(&self.secrets, KEPT_BYTES, Box::new(sink))),
            stop,
            mark: self.mark(),
            trace: None,
            memory: notes,
        }
    }

    /// Marker of the attempt; unique per test, because it contains the test's directory.
    fn mark(&self) -> String {
        format!("1/2/3@{}", self.folder.path().display())
    }

    async fn run_until(&self, task_type: &str, parameters: Json, stop: Stop) -> Outcome {
        self.execute(Mode::Normal, task_type, parameters, stop).await
    }

    async fn execute(&self, mode: Mode, task_type: &str, parameters: Json, stop: Stop) -> Outcome {
        let host = self.host(stop);
        let report = Arc::clone(&host.report);
        let order = Order { task_type, parameters: &parameters, node: "1", mode, debug: false };
        let outcome = execute(order, host).await;
        report.finish();
        outcome
    }

    async fn run(&self, task_type: &str, parameters: Json) -> Outcome {
        let (_stopper, stop) = Stopper::new();
        self.run_until(task_type, parameters, stop).await
    }

    async fn run_in(&self, mode: Mode, task_type: &str, parameters: Json) -> Outcome {
        let (_stopper, stop) = Stopper::new();
        self.execute(mode, task_type, parameters, stop).await
    }

    /// Runs a script and stops it after it has printed `ready`.
    async fn run_and_stop(&self, script: &str, reason: StopReason) -> Outcome {
        let (stopper, stop) = Stopper::new();
        let ready = async {
            while !self.stdout().contains("ready") {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            stopper.stop(reason);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            outcome = self.run_until("shell", serde_json::json!({"cmd": script}), stop) => outcome,
            () = ready => unreachable!(),
        }
    }

    fn stdout(&self) -> String {
        self.output.lock().unwrap()[0].clone()
    }

    fn stderr(&self) -> String {
        self.output.lock().unwrap()[1].clone()
    }
}

/// Writes an executable from a child process. If this process had it open for writing, a concurrent fork of
/// another test could inherit the descriptor, and the kernel would fail the exec with `ETXTBSY`.
fn write_program(path: &std::path::Path, text: &str) {
    let script = "printf '%s' \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let status = std::process::Command::new("/bin/sh").arg("-c").arg(script).arg(path).arg(text).status();
    assert!(status.unwrap().success());
}

fn message(outcome: Outcome) -> String {
    format!("{:?}", outcome.unwrap_err().cause)
}
