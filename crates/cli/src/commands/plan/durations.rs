//! Estimates the duration of a plan from a file of task durations.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use stoker_planner::Plan;
use stoker_yaql::Value;

use crate::exit::{Failure, Outcome};
use crate::input::read_any_data;

pub(super) struct Durations(HashMap<String, TaskDuration>);

enum TaskDuration {
    AllNodes(u64),
    ByNode(HashMap<String, u64>),
}

/// Maximum number of steps printed of the critical path; longer ones are cut in the middle.
const STEPS_MAX: usize = 30;

impl Durations {
    pub(super) fn read(path: &Path) -> Outcome<Self> {
        let data = read_any_data(path)?.value;
        let input_error = |message: String| Failure::input(format!("`{}`: {message}", path.display()));
        let map = data
            .as_map()
            .ok_or_else(|| input_error("expected a map from tasks to milliseconds".to_owned()))?;
        let mut durations = HashMap::new();
        for (key, value) in map.iter() {
            let task = name(key).ok_or_else(|| input_error("a task name must be a string".to_owned()))?;
            let duration = match (value.as_map(), milliseconds(value)) {
                (Some(by_node), _) => by_node
                    .iter()
                    .map(|(uid, value)| Some((name(uid)?, milliseconds(value)?)))
                    .collect::<Option<_>>()
                    .map(TaskDuration::ByNode),
                (None, all_nodes) => all_nodes.map(TaskDuration::AllNodes),
            };
            let duration = duration.ok_or_else(|| {
                input_error(format!(
                    "the duration of `{task}` must be a number of milliseconds, or a map by node such as {{\"1\": 1200}}"
                ))
            })?;
            durations.insert(task, duration);
        }
        Ok(Self(durations))
    }

    fn of(&self, task: &str, uid: &str) -> Option<u64> {
        match self.0.get(task)? {
            TaskDuration::AllNodes(ms) => Some(*ms),
            TaskDuration::ByNode(by_node) => by_node.get(uid).copied(),
        }
    }

    /// Formats the estimate, which follows the summary of a plan.
    pub(super) fn text(&self, plan: &Plan) -> String {
        let estimate = stoker_planner::estimate(plan, &|task, uid| self.of(task, uid));
        let mut out = format!("\n\nestimated duration: {}", format_ms(estimate.total_ms));
        if estimate.n_estimated > 0 {
            let n_durations = estimate.n_measured + estimate.n_estimated;
            let verb = if estimate.n_estimated == 1 { "is" } else { "are" };
            let _ = write!(out, "; {} of {n_durations} task durations {verb} unknown", estimate.n_estimated);
        }
        let n_steps = estimate.critical_path.len();
        let _ = write!(out, "\ncritical path: {n_steps} tasks, {}", format_ms(estimate.critical_ms()));
        let half = STEPS_MAX / 2;
        for (position, (idx, ms)) in estimate.critical_path.iter().enumerate() {
            if n_steps > STEPS_MAX && position == half {
                let _ = write!(out, "\n  … {} more …", n_steps - STEPS_MAX);
            }
            let is_printed = n_steps <= STEPS_MAX || position < half || position >= n_steps - half;
            if let Some(instance) = plan.instance(*idx).filter(|_| is_printed) {
                let _ = write!(out, "\n  {:>8}  {instance}", format_ms(*ms));
            }
        }
        out
    }
}

fn name(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_string()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

fn milliseconds(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// Formats a duration as `450 ms`, `12.5 s`, `3 min 20 s` or `2 h 5 min`.
fn format_ms(ms: u64) -> String {
    let (seconds, minutes) = (ms / 1_000, ms / 60_000);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::format_ms;

    #[test]
    fn durations_are_formatted() {
        for (ms, expected) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (12_590, "12.5 s"),
            (200_000, "3 min 20 s"),
            (3_600_000, "1 h 0 min"),
            (7_500_000, "2 h 5 min"),
        ] {
            assert_eq!(format_ms(ms), expected);
        }
    }
}
