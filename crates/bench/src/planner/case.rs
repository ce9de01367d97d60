//! One fleet size and one history, measured in a separate process so that its peak memory can be attributed.

use std::error::Error;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use stoker_model::Json;
use stoker_planner::{EvaluationSettings, InstanceAction, PlanningInput, PlanningReport, Reasons, plan};
use stoker_state::AppliedStates;

use super::fleet::{Fleet, Real};

/// Applied state of the benchmark: none, identical to the new state, or one difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Past {
    None,
    Same,
    OneSetting,
    OneNode,
}

impl Past {
    pub(super) const ALL: [Self; 4] = [Self::None, Self::Same, Self::OneSetting, Self::OneNode];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::None => "first run",
            Self::Same => "nothing changed",
            Self::OneSetting => "one setting changed",
            Self::OneNode => "one node added",
        }
    }

    fn old(self, real: &Real, n_nodes: usize) -> Result<Option<AppliedStates>, Box<dyn Error>> {
        let before: Fleet = match self {
            Self::None => return Ok(None),
            Self::Same => real.grown(n_nodes)?,
            Self::OneSetting => real.grown(n_nodes)?.with_setting("debug", "another".into())?,
            Self::OneNode => real.grown(n_nodes - 1)?,
        };
        Ok(Some(before.as_old()))
    }
}

/// Measures a case and returns the result as JSON.
pub(super) fn run(n_nodes: usize, past: Past, n_rounds: usize) -> Result<Json, Box<dyn Error>> {
    let real = Real::read()?;
    let fleet = real.grown(n_nodes)?;
    let old = past.old(&real, n_nodes)?;
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let input = PlanningInput {
        old: old.as_ref(),
        settings: EvaluationSettings { n_threads, ..EvaluationSettings::default() },
        ..PlanningInput::new(&real.tasks, fleet.common.clone(), real.nodes(&fleet))
    };
    let first_problem = |report: PlanningReport| {
        let first = report.problems.first().map(ToString::to_string).unwrap_or_default();
        format!("the real graph cannot be planned: {first}")
    };
    let before_kib = memory_kib("VmRSS:");
    let started = Instant::now();
    let (first, report) = plan(&input).map_err(first_problem)?;
    let cold = started.elapsed();
    let plan_peak_kib = memory_kib("VmHWM:");
    let (mut times, mut cpu_times) = (Vec::with_capacity(n_rounds), Vec::with_capacity(n_rounds));
    for _ in 0..n_rounds {
        let (started, cpu_before) = (Instant::now(), cpu_time()?);
        let planned = plan(&input);
        times.push(started.elapsed());
        cpu_times.push(cpu_time()?.saturating_sub(cpu_before));
        drop(planned);
    }
    let (started, cpu_before) = (Instant::now(), cpu_time()?);
    let reasons = Reasons::new(&input, &first);
    let (explained, explained_cpu) = (started.elapsed(), cpu_time()?.saturating_sub(cpu_before));
    let (_, n_edges) = first.order_size();
    let n_run = first.instances().filter(|instance| instance.verdict.action() == InstanceAction::Run).count();
    Ok(serde_json::json!({
        "instances": first.n_instances(),
        "run": n_run,
        "edges": n_edges,
        "evaluations": report.n_evaluations,
        "seconds": median(times),
        "cpu_seconds": median(cpu_times),
        "cold_seconds": cold.as_secs_f64(),
        "before_mib": before_kib / 1024,
        "peak_mib": plan_peak_kib / 1024,
        "explained_seconds": explained.as_secs_f64(),
        "explained_cpu_seconds": explained_cpu.as_secs_f64(),
        "reasons": reasons.explanations().len(),
    }))
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

/// Returns the CPU time of all threads of this process.
fn cpu_time() -> nix::Result<Duration> {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from)
}

fn memory_kib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default()
}
