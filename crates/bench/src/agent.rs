//! Cost of a task on a node, compared with the cost of starting a process.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use stoker_agent::transport::channel::channel_transport;
use stoker_agent::{DriverSettings, StateFolder};
use stoker_engine::session::{Attempt, AttemptKey, FromAgent, Generation, Mode, ResultKind, ToAgent};
use stoker_model::{InstanceIdx, Json, RunId};
use stoker_tasks::host::HostFuture;
use stoker_tasks::host::real::{AttemptRecorder, LocalHost, Machine, ProcessId};
use stoker_tasks::output::{OUTPUT_HEAD_TAIL_BYTES, OutputReport};
use stoker_tasks::{AttemptSpec, HostError, StopSender, execute};
use tokio::sync::watch;

use crate::row::{Limit, Row};

/// The cheapest possible process.
const PROGRAM: &str = "/bin/true";

/// Duration of each measurement.
const TIME: Duration = Duration::from_secs(3);

/// Number of concurrent attempts.
const WINDOW: usize = 64;

/// Processes per second: started directly, through a task type, and through a complete agent with its
/// journal.
pub(crate) fn measure() -> Result<Vec<Row>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let plain = plain_rate()?;
    let through_host = runtime.block_on(host_rate(folder.path()))?;
    let through_agent = runtime.block_on(agent_rate(folder.path()))?;
    let row =
        |label: &str, rate: f64, minimum: f64| Row::new(label, rate, "a second", Limit::AtLeast(minimum));
    Ok(vec![
        row("processes started directly", plain, 1.0),
        row("the same as `shell` tasks, at least half of that", through_host, (plain / 2.0).floor()),
        row(
            "the same as attempts of an agent with its journal, at least half",
            through_agent,
            (plain / 2.0).floor(),
        ),
    ])
}

fn rate(n: usize, since: Instant) -> f64 {
    n as f64 / since.elapsed().as_secs_f64()
}

/// Starts processes on one thread per core, each waiting for its process, and returns the rate.
pub(crate) fn plain_rate() -> Result<f64, Box<dyn Error>> {
    let n_threads = std::thread::available_parallelism()?.get();
    let since = Instant::now();
    let threads: Vec<_> =
        (0..n_threads).map(|_| std::thread::spawn(move || start_until(since + TIME))).collect();
    let mut n = 0;
    for thread in threads {
        n += thread.join().map_err(|_| "a thread failed")??;
    }
    Ok(rate(n, since))
}

fn start_until(deadline: Instant) -> std::io::Result<usize> {
    let mut n = 0;
    while Instant::now() < deadline {
        let mut command = Command::new(PROGRAM);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        n += 1;
    }
    Ok(n)
}

struct NoMemory;

impl AttemptRecorder for NoMemory {
    fn process_started(&self, _process: ProcessId) -> HostFuture<'_, ()> {
        Box::pin(async {})
    }

    fn about_to_reboot(&self, _boot_id: String) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async { Ok(()) })
    }
}

/// Runs tasks on the real host, with the concurrency of an agent, and returns the rate.
async fn host_rate(scratch: &Path) -> Result<f64, Box<dyn Error>> {
    let machine = Arc::new(Machine::new(scratch.to_owned()));
    let since = Instant::now();
    let workers: Vec<_> =
        (0..WINDOW).map(|_| tokio::spawn(work_until(Arc::clone(&machine), since + TIME))).collect();
    let mut n = 0;
    for worker in workers {
        n += worker.await??;
    }
    Ok(rate(n, since))
}

async fn work_until(machine: Arc<Machine>, deadline: Instant) -> Result<usize, &'static str> {
    let parameters = parameters();
    let mut n = 0;
    while Instant::now() < deadline {
        let (_stopper, stop) = StopSender::new();
        let host = LocalHost {
            machine: Arc::clone(&machine),
            report: Arc::new(OutputReport::new(&[], OUTPUT_HEAD_TAIL_BYTES, Box::new(|_, _, _| {}))),
            stop,
            marker: "bench".to_owned(),
            traceparent: None,
            recorder: Arc::new(NoMemory),
        };
        let order = AttemptSpec {
            task_type: "shell",
            parameters: &parameters,
            node: "1",
            mode: Mode::Normal,
            debug: false,
        };
        execute(order, host).await.map_err(|_| "the program failed")?;
        n += 1;
    }
    Ok(n)
}

fn parameters() -> Json {
    serde_json::json!({ "cmd": PROGRAM })
}

/// Runs tasks through a complete agent with journal, session and reports, and returns the rate. The server
/// side runs in this process and acknowledges immediately.
async fn agent_rate(folder: &Path) -> Result<f64, Box<dyn Error>> {
    let settings = DriverSettings::new(folder.join("state"), "1".into());
    let state = StateFolder::open(&settings.state)?;
    let (transport, mut connections) = channel_transport();
    let (stop, stopped) = watch::channel(false);
    let agent = tokio::spawn(stoker_agent::run(settings, state, transport, stopped));
    let mut connection = connections.recv().await.ok_or("the agent does not connect")?;
    let since = Instant::now();
    let (mut n_sent, mut n_ended) = (0, 0);
    while since.elapsed() < TIME || n_ended < n_sent {
        while n_sent - n_ended < WINDOW && since.elapsed() < TIME {
            connection.send.send(ToAgent::Start(attempt(n_sent as u32))).await?;
            n_sent += 1;
        }
        if let FromAgent::Finished(finished) =
            connection.receive.recv().await.ok_or("the agent has exited")?
        {
            if finished.end != ResultKind::Succeeded {
                return Err(format!("an attempt ended as {:?}", finished.end).into());
            }
            connection.send.send(ToAgent::Acknowledge { keys: vec![finished.key] }).await?;
            n_ended += 1;
        }
    }
    let rate = rate(n_ended, since);
    stop.send(true)?;
    agent.await??;
    Ok(rate)
}

fn attempt(instance: u32) -> Attempt {
    Attempt {
        key: AttemptKey { run: RunId(1), instance: InstanceIdx::new(instance), attempt: 1 },
        generation: Generation(1),
        task: "bench".to_owned(),
        node: "1".to_owned(),
        task_type: "shell".to_owned(),
        parameters: parameters(),
        mode: Mode::Normal,
        debug: false,
        timeout_ms: 60_000,
        secrets: Vec::new(),
        trace: None,
    }
}
