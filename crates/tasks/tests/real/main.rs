//! Tests with real programs on this machine.

#![expect(clippy::unwrap_used, reason = "test helpers may panic")]
#![expect(clippy::disallowed_methods, reason = "tests read the clock and the environment")]

mod files;
mod programs;
mod resources;
mod runners;
mod termination;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use stoker_engine::session::{Mode, Stream};
use stoker_model::Json;
use stoker_tasks::host::HostFuture;
use stoker_tasks::host::real::{AttemptRecorder, LocalHost, Machine, ProcessId};
use stoker_tasks::output::{OUTPUT_HEAD_TAIL_BYTES, OutputReport};
use stoker_tasks::{AttemptSpec, HostError, StopReason, StopSender, StopSignal, TaskOutcome, execute};
use stoker_testkit::TempFolder;

/// Machine that runs one attempt at a time.
struct Bench {
    folder: TempFolder,
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

impl AttemptRecorder for Notes {
    fn process_started(&self, process: ProcessId) -> HostFuture<'_, ()> {
        self.started.lock().push(process);
        Box::pin(async {})
    }

    fn about_to_reboot(&self, boot_id: String) -> HostFuture<'_, Result<(), HostError>> {
        self.boots.lock().push(boot_id);
        Box::pin(async { Ok(()) })
    }
}

impl Bench {
    fn new() -> Self {
        let folder = TempFolder::new();
        let mut machine = Machine::new(folder.path().to_owned());
        machine.grace = Duration::from_millis(200);
        Self { folder, machine, output: Arc::default(), secrets: Vec::new(), notes: Arc::default() }
    }

    fn host(&self, stop: StopSignal) -> LocalHost {
        let output = Arc::clone(&self.output);
        let sink = move |stream: Stream, _, text: String| {
            output.lock()[usize::from(stream == Stream::Err)].push_str(&text);
        };
        let notes: Arc<dyn AttemptRecorder> = Arc::clone(&self.notes) as _;
        LocalHost {
            machine: Arc::new(self.machine.clone()),
            report: Arc::new(OutputReport::new(&self.secrets, OUTPUT_HEAD_TAIL_BYTES, Box::new(sink))),
            stop,
            marker: self.mark(),
            traceparent: None,
            recorder: notes,
        }
    }

    /// Returns the marker of the attempt; unique per test, because it contains the test's directory.
    fn mark(&self) -> String {
        format!("1/2/3@{}", self.folder.path().display())
    }

    async fn run_until(&self, task_type: &str, parameters: Json, stop: StopSignal) -> TaskOutcome {
        self.execute(Mode::Normal, task_type, parameters, stop).await
    }

    async fn execute(&self, mode: Mode, task_type: &str, parameters: Json, stop: StopSignal) -> TaskOutcome {
        let host = self.host(stop);
        let report = Arc::clone(&host.report);
        let order = AttemptSpec { task_type, parameters: &parameters, node: "1", mode, debug: false };
        let outcome = execute(order, host).await;
        report.finish();
        outcome
    }

    async fn run(&self, task_type: &str, parameters: Json) -> TaskOutcome {
        let (_stopper, stop) = StopSender::new();
        self.run_until(task_type, parameters, stop).await
    }

    async fn run_in(&self, mode: Mode, task_type: &str, parameters: Json) -> TaskOutcome {
        let (_stopper, stop) = StopSender::new();
        self.execute(mode, task_type, parameters, stop).await
    }

    /// Runs a script and stops it after it has printed `ready`.
    async fn run_and_stop(&self, script: &str, reason: StopReason) -> TaskOutcome {
        let (stopper, stop) = StopSender::new();
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
        self.output.lock()[0].clone()
    }

    fn stderr(&self) -> String {
        self.output.lock()[1].clone()
    }
}

/// Writes an executable from a child process. If this process had it open for writing, a concurrent fork of
/// another test could inherit the descriptor, and the kernel would fail the exec with `ETXTBSY`.
fn write_program(path: &std::path::Path, text: &str) {
    let script = "printf '%s' \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let status = std::process::Command::new("/bin/sh").arg("-c").arg(script).arg(path).arg(text).status();
    assert!(status.unwrap().success());
}

fn message(outcome: TaskOutcome) -> String {
    format!("{:?}", outcome.unwrap_err().cause)
}
