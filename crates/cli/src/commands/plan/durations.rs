//! How long a plan will take, from a file that says how long tasks do.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use stoker_planner::{Plan, estimate};
use stoker_yaql::Value;

use crate::exit::{Failure, Outcome};
use crate::input::read_any_data;

pub(super) struct Durations(HashMap<String, OfTask>);

enum OfTask {
    Everywhere(u64),
    ByNode(HashMap<String, u64>),
}

/// Of a long chain, its ends tell most.
const SHOWN_MAX: usize = 30;

impl Durations {
    pub(super) fn read(path: &Path) -> Outcome<Self> {
        let data = read_any_data(path)?.value;
        let wrong = |what: String| Failure::input(format!("`{}`: {what}", path.display()));
        let map =
            data.as_map().ok_or_else(|| wrong("a map from tasks to milliseconds is expected".to_owned()))?;
        let mut durations = HashMap::new();
        for (key, value) in map.iter() {
            let task = name(key).ok_or_else(|| wrong("the name of a task is a text".to_owned()))?;
            let of_task = match (value.as_map(), milliseconds(value)) {
                (Some(by_node), _) => by_node
                    .iter()
                    .map(|(uid, value)| Some((name(uid)?, milliseconds(value)?)))
                    .collect::<Option<_>>()
                    .map(OfTask::ByNode),
                (None, everywhere) => everywhere.map(OfTask::Everywhere),
            };
            let of_task = of_task.ok_or_else(|| {
                wrong(format!(
                    "`{task}` lasts a number of milliseconds, or one for each node, like {{\"1\": 1200}}"
                ))
            })?;
            durations.insert(task, of_task);
        }
        Ok(Self(durations))
    }

    fn of(&self, task: &str, uid: &str) -> Option<u64> {
        match self.0.get(task)? {
            OfTask::Everywhere(ms) => Some(*ms),
            OfTask::ByNode(by_node) => by_node.get(uid).copied(),
        }
    }

    /// The estimate, as it follows the summary of a plan.
    pub(super) fn text(&self, plan: &Plan) -> String {
        let found = estimate(plan, &|task, uid| self.of(task, uid));
        let mut out = format!("\n\nabout {} in all", spoken(found.total_ms));
        if found.n_unknown > 0 {
            let n_all = found.n_known + found.n_unknown;
            let is = if found.n_unknown == 1 { "is" } else { "are" };
            let _ = write!(out, "; {} of {n_all} durations {is} guessed", found.n_unknown);
        }
        let n_steps = found.critical_path.len();
        let _ = write!(out, "\nlongest chain: {n_steps} in a row, {}", spoken(found.critical_ms()));
        let half = SHOWN_MAX / 2;
        for (place, (idx, ms)) in found.critical_path.iter().enumerate() {
            if n_steps > SHOWN_MAX && place == half {
                let _ = write!(out, "\n  … {} more …", n_steps - SHOWN_MAX);
            }
            let is_shown = n_steps <= SHOWN_MAX || place < half || place >= n_steps - half;
            if let Some(instance) = plan.instance(*idx).filter(|_| is_shown) {
                let _ = write!(out, "\n  {:>8}  {instance}", spoken(*ms));
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

/// `450 ms`, `12.5 s`, `3 min 20 s`, `2 h 5 min`.
fn spoken(ms: u64) -> String {
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
    use super::spoken;

    #[test]
    fn durations_are_spoken() {
        for (ms, expected) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (12_590, "12.5 s"),
            (200_000, "3 min 20 s"),
            (3_600_000, "1 h 0 min"),
            (7_500_000, "2 h 5 min"),
        ] {
            assert_eq!(spoken(ms), expected);
        }
    }
}
