//! Progress of a run, folded from its events.

use serde_json::Value as Json;
use stoker_api_types::runs::EventView;

use crate::text::counted;

/// A task instance of the plan.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) task: String,
    pub(super) node: String,
    pub(super) is_run: bool,
}

/// Progress of one node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) n_total: usize,
    pub(super) n_done: usize,
    pub(super) n_failed: usize,
    /// Tasks that were not started and never will be.
    pub(super) n_unfinished: usize,
    /// Tasks that are running.
    pub(super) current: Vec<String>,
    /// Unix time in seconds of its first task and of its last event.
    pub(super) started_at: Option<f64>,
    pub(super) last: Option<f64>,
}

impl Node {
    pub(super) fn has_ended(&self) -> bool {
        self.n_done + self.n_failed + self.n_unfinished >= self.n_total
    }
}

/// Progress of one child run.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    instances: Vec<(Instance, Option<usize>)>,
    /// Nodes with tasks to run, sorted by ID.
    pub(super) nodes: Vec<Node>,
    started_at: Vec<Option<f64>>,
    /// Unix time in seconds of the first and last event.
    pub(super) first: Option<f64>,
    pub(super) last: Option<f64>,
    pub(super) is_paused: bool,
}

/// Returns the sort key of node IDs: numerically, other names last.
pub(crate) fn node_key(node: &str) -> (u64, String) {
    (node.parse().unwrap_or(u64::MAX), node.to_owned())
}

/// Pseudo-node of stages, which is not displayed.
const SYNC_NODE: &str = "sync";

impl Progress {
    pub(super) fn new(instances: Vec<Instance>) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut indexed = Vec::with_capacity(instances.len());
        for instance in instances {
            let is_displayed = instance.is_run && instance.node != SYNC_NODE;
            let node_idx = is_displayed.then(|| {
                let existing = nodes.iter().position(|node| node.name == instance.node);
                existing.unwrap_or_else(|| {
                    nodes.push(Node::new(&instance.node));
                    nodes.len() - 1
                })
            });
            if let Some(node_idx) = node_idx {
                nodes[node_idx].n_total += 1;
            }
            indexed.push((instance, node_idx));
        }
        // The plan orders nodes by task; sort them by ID and remap the indexes.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|node_idx| node_key(&nodes[*node_idx].name));
        let mut rank = vec![0; nodes.len()];
        order.iter().enumerate().for_each(|(position, node_idx)| rank[*node_idx] = position);
        nodes.sort_by_key(|node| node_key(&node.name));
        for (_, node_idx) in &mut indexed {
            *node_idx = node_idx.map(|node_idx| rank[node_idx]);
        }
        let started_at = vec![None; indexed.len()];
        Self { instances: indexed, nodes, started_at, first: None, last: None, is_paused: false }
    }

    /// Applies an event and returns its log message, if it has one.
    pub(super) fn apply(&mut self, event: &EventView) -> Option<String> {
        let time = unix_time(&event.at);
        if let Some(time) = time {
            self.first.get_or_insert(time);
            self.last = Some(time);
        }
        let instance = event.instance.and_then(|idx| usize::try_from(idx).ok());
        let body = &event.body;
        match event.kind.as_str() {
            "started" => self.apply_started(instance?, time),
            "attempt_ended" => self.apply_ended(instance?, body, time),
            "resolved" => self.apply_resolved(body, time),
            "paused" => {
                self.is_paused = true;
                Some("paused".to_owned())
            }
            "resumed" => {
                self.is_paused = false;
                Some("resumed".to_owned())
            }
            "stop_asked" => Some("stopping".to_owned()),
            "node_lost" => Some("lost contact with a node".to_owned()),
            "node_back" => Some("regained contact with a node".to_owned()),
            "node_given_up" => Some("a node was offline for too long and counts as failed".to_owned()),
            "tolerance_exceeded" => Some("the fault tolerance of a node group was exceeded".to_owned()),
            _ => None,
        }
    }

    fn apply_started(&mut self, idx: usize, time: Option<f64>) -> Option<String> {
        let (instance, node_idx) = self.instances.get(idx)?;
        self.started_at[idx] = time;
        let node = &mut self.nodes[(*node_idx)?];
        node.started_at = node.started_at.or(time);
        node.last = time;
        if !node.current.contains(&instance.task) {
            node.current.push(instance.task.clone());
        }
        Some(format!("node {}: {} started", instance.node, instance.task))
    }

    fn apply_ended(&mut self, idx: usize, body: &Json, time: Option<f64>) -> Option<String> {
        let (instance, node_idx) = self.instances.get(idx)?;
        let (task, name) = (instance.task.clone(), instance.node.clone());
        let node = &mut self.nodes[(*node_idx)?];
        node.current.retain(|current| *current != task);
        node.last = time;
        let elapsed = self.started_at[idx]
            .zip(time)
            .map(|(started_at, time)| format!(" after {}", duration(time - started_at)));
        let elapsed = elapsed.unwrap_or_default();
        let reason_text = crate::text::truncate_line(body.get("end").map_or("", reason), REASON_CHARS_MAX);
        let message = match body.get("next").and_then(|next| next.get("outcome")).and_then(Json::as_str) {
            Some("succeeded") => {
                node.n_done += 1;
                format!("succeeded{elapsed}")
            }
            Some("ignored") => {
                node.n_done += 1;
                format!("failed{elapsed} (ignored): {reason_text}")
            }
            Some("cancelled") => {
                node.n_unfinished += 1;
                format!("was stopped{elapsed}")
            }
            Some(_) => {
                node.n_failed += 1;
                format!("failed{elapsed}: {reason_text}")
            }
            None => format!("failed{elapsed}, retrying: {reason_text}"),
        };
        Some(format!("node {name}: {task} {message} ({}/{})", node.n_done, node.n_total))
    }

    /// Handles a batch of instances that will not start.
    fn apply_resolved(&mut self, body: &Json, time: Option<f64>) -> Option<String> {
        // Blocked by a dependency, lost with their node, or stopped with the run.
        let (mut n_blocked, mut n_lost, mut n_stopped) = (0, 0, 0);
        for end in body.get("ends").and_then(Json::as_array).into_iter().flatten() {
            let node_idx = end[0].as_u64().and_then(|idx| self.instances.get(idx as usize)?.1);
            let Some(node_idx) = node_idx else { continue };
            let node = &mut self.nodes[node_idx];
            match end[1].as_str() {
                // Succeeded in the run that is being retried.
                Some("skipped") => node.n_total -= 1,
                Some("not_retried") => node.n_failed += 1,
                outcome => {
                    node.n_unfinished += 1;
                    match outcome {
                        Some("stopped") => n_stopped += 1,
                        Some("node_lost") => n_lost += 1,
                        _ => n_blocked += 1,
                    }
                }
            }
            node.last = time;
        }
        let causes = [
            (n_blocked, ["a dependency did not succeed"; 2]),
            (n_lost, ["its node was offline for too long", "their nodes were offline for too long"]),
            (n_stopped, ["the run was stopped"; 2]),
        ];
        let messages: Vec<String> = causes
            .iter()
            .filter(|(n_tasks, _)| *n_tasks > 0)
            .map(|(n_tasks, [singular, plural])| {
                let reason_text = if *n_tasks == 1 { singular } else { plural };
                format!("{} not started: {reason_text}", counted(*n_tasks, "task"))
            })
            .collect();
        (!messages.is_empty()).then(|| messages.join("; "))
    }

    /// Returns the number of finished tasks, and of all tasks.
    pub(super) fn counts(&self) -> (usize, usize) {
        let n_finished = self.nodes.iter().map(|node| node.n_done + node.n_failed + node.n_unfinished).sum();
        (n_finished, self.nodes.iter().map(|node| node.n_total).sum())
    }
}

const REASON_CHARS_MAX: usize = 300;

/// Returns the failure reason of an attempt: the message of the executor, or a description of the result.
fn reason(end: &Json) -> &str {
    let field = |key: &str| end.get(key).and_then(Json::as_str);
    field("message").unwrap_or(match field("how").unwrap_or_default() {
        "timed_out" => "timed out and was terminated",
        "cancelled" => "cancelled",
        "interrupted" => "interrupted by a shutdown of the agent",
        "lost" => "the node was offline for too long",
        "no_answer" => "the agent did not report a result",
        other => other,
    })
}

impl Node {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            n_total: 0,
            n_done: 0,
            n_failed: 0,
            n_unfinished: 0,
            current: Vec::new(),
            started_at: None,
            last: None,
        }
    }
}

/// Parses `2026-01-31T07:00:00.123456` to Unix time in seconds.
pub(crate) fn unix_time(text: &str) -> Option<f64> {
    let (date, time) = text.trim_end_matches('Z').split_once('T')?;
    let numbers = |text: &str, separator: char| -> Option<Vec<f64>> {
        text.split(separator).map(|part| part.parse::<f64>().ok()).collect()
    };
    let [year, month, day] = numbers(date, '-')?[..] else { return None };
    let [hours, minutes, seconds] = numbers(time, ':')?[..] else { return None };
    // Civil calendar: years start in March, so that leap days come last.
    let (shifted_year, shifted_month) =
        if month > 2.0 { (year, month - 3.0) } else { (year - 1.0, month + 9.0) };
    let leap_days =
        (shifted_year / 4.0).floor() - (shifted_year / 100.0).floor() + (shifted_year / 400.0).floor();
    let month_days = ((153.0 * shifted_month + 2.0) / 5.0).floor();
    let days = shifted_year * 365.0 + leap_days + month_days + day - 1.0 - 719_468.0;
    Some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
}

/// Formats a duration as `850 ms`, `4.2 s`, `3 min 20 s` or `2 h 5 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 1.0 => format!("{} ms", (seconds * 1000.0).round()),
        _ if seconds < 10.0 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn instance(task: &str, node: &str, is_run: bool) -> Instance {
        Instance { task: task.to_owned(), node: node.to_owned(), is_run }
    }

    #[expect(clippy::needless_pass_by_value, reason = "literals read better without `&`")]
    fn event(kind: &str, instance: Json, time: &str, body: Json) -> EventView {
        let at = format!("2026-01-31T07:00:{time}");
        EventView { seq: 1, part: 1, at, kind: kind.to_owned(), instance: instance.as_i64(), body }
    }

    #[test]
    fn unix_time_parses_timestamps() {
        assert_eq!(unix_time("1970-01-01T00:00:00"), Some(0.0));
        assert_eq!(unix_time("2026-01-31T07:00:01.500000"), Some(1_769_842_801.5));
        assert_eq!(unix_time("2024-03-01T00:00:00Z"), Some(1_709_251_200.0));
        for invalid in ["", "2026-01-31", "x", "2026-01T1:2:3", "2026-01-31T1:2"] {
            assert_eq!(unix_time(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn durations_are_formatted() {
        let cases = [
            (-1.0, "0 ms"),
            (0.0125, "13 ms"),
            (4.21, "4.2 s"),
            (59.4, "59 s"),
            (200.0, "3 min 20 s"),
            (7500.0, "2 h 5 min"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(duration(seconds), expected);
        }
    }

    #[test]
    fn stopped_tasks_are_not_failures() {
        let instances = ["10", "2", "1", "master"].map(|node| instance("a", node, true));
        let mut progress = Progress::new(instances.to_vec());
        let names: Vec<&str> = progress.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["1", "2", "10", "master"]);
        progress.apply(&event("started", json!(0), "01", json!({})));
        assert_eq!(progress.nodes[2].current, ["a"]);
        let cancelled = json!({"end": {"how": "cancelled"}, "next": {"outcome": "cancelled"}});
        let message = progress.apply(&event("attempt_ended", json!(0), "03", cancelled));
        assert_eq!(message.as_deref(), Some("node 10: a was stopped after 2.0 s (0/1)"));
        let rest = json!({"ends": [[1, "stopped"], [2, "stopped"], [3, "node_lost", 3]]});
        let message = progress.apply(&event("resolved", json!(null), "03", rest)).unwrap();
        assert!(message.contains("2 tasks not started: the run was stopped"), "{message}");
        assert!(message.contains("1 task not started: its node was offline"), "{message}");
        assert!(progress.nodes.iter().all(|node| node.n_failed == 0 && node.has_ended()));
    }

    #[test]
    fn events_update_progress_and_return_messages() {
        let mut progress = Progress::new(vec![
            instance("start", "sync", true),
            instance("a", "1", true),
            instance("a", "2", false),
            instance("b", "1", true),
            instance("c", "1", true),
        ]);
        assert_eq!(progress.nodes.len(), 1);
        let message = |progress: &mut Progress, event: EventView| progress.apply(&event).unwrap_or_default();
        assert_eq!(message(&mut progress, event("began", json!(null), "00", json!({}))), "");
        assert_eq!(message(&mut progress, event("started", json!(1), "01", json!({}))), "node 1: a started");
        assert_eq!(progress.nodes[0].current, ["a"]);
        let done = json!({"end": {"how": "succeeded"}, "next": {"outcome": "succeeded"}});
        assert_eq!(
            message(&mut progress, event("attempt_ended", json!(1), "03", done)),
            "node 1: a succeeded after 2.0 s (1/3)"
        );
        let retried = json!({"end": {"how": "failed", "message": "no"}, "next": {"retry_at": 1}});
        assert!(
            message(&mut progress, event("attempt_ended", json!(3), "04", retried)).contains("retrying: no")
        );
        let failed = json!({"end": {"how": "timed_out"}, "next": {"outcome": "failed"}});
        assert!(
            message(&mut progress, event("attempt_ended", json!(3), "05", failed))
                .contains("failed: timed out and was terminated")
        );
        for (end, reason_text) in [
            (json!({"how": "interrupted"}), "interrupted by a shutdown of the agent"),
            (json!({"how": "refused", "message": "no"}), "no"),
            (json!({"how": "of a newer version"}), "of a newer version"),
        ] {
            assert_eq!(reason(&end), reason_text);
        }
        let rest = json!({"ends": [[4, "node_failed", 3], [2, "skipped"], [99, "stopped"]]});
        assert_eq!(
            message(&mut progress, event("resolved", json!(null), "06", rest)),
            "1 task not started: a dependency did not succeed"
        );
        assert!(progress.nodes[0].has_ended());
        assert_eq!(progress.counts(), (3, 3));
        // Unknown events of newer servers are ignored.
        assert_eq!(progress.apply(&event("exploded", json!(7), "x", json!([]))), None);
    }
}
