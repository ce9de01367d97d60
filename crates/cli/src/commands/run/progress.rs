//! How far a run is: a fold of its events.

use serde_json::Value as Json;

use crate::text::counted;

/// A task on a node, as the plan has it.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) task: String,
    pub(super) node: String,
    pub(super) is_run: bool,
}

/// A node, and how far it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) n_total: usize,
    pub(super) n_done: usize,
    pub(super) n_failed: usize,
    /// Tasks that did not begin and will not.
    pub(super) n_left: usize,
    /// What it does now.
    pub(super) current: Vec<String>,
    /// Seconds since 1970: of its first beginning, and of its last event.
    pub(super) began: Option<f64>,
    pub(super) last: Option<f64>,
}

impl Node {
    pub(super) fn has_ended(&self) -> bool {
        self.n_done + self.n_failed + self.n_left >= self.n_total
    }
}

/// One graph of a run.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    instances: Vec<(Instance, Option<usize>)>,
    /// Those that carry something out, by id.
    pub(super) nodes: Vec<Node>,
    began: Vec<Option<f64>>,
    /// Seconds since 1970 of the first and of the last event.
    pub(super) first: Option<f64>,
    pub(super) last: Option<f64>,
    pub(super) is_paused: bool,
}

/// Sorts nodes by the numbers that their ids are; what is none comes last.
pub(crate) fn node_key(node: &str) -> (u64, String) {
    (node.parse().unwrap_or(u64::MAX), node.to_owned())
}

/// Stages are on no node.
const NOWHERE: &str = "sync";

impl Progress {
    pub(super) fn new(instances: Vec<Instance>) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut placed = Vec::with_capacity(instances.len());
        for instance in instances {
            let is_shown = instance.is_run && instance.node != NOWHERE;
            let place = is_shown.then(|| {
                let known = nodes.iter().position(|node| node.name == instance.node);
                known.unwrap_or_else(|| {
                    nodes.push(Node::new(&instance.node));
                    nodes.len() - 1
                })
            });
            if let Some(place) = place {
                nodes[place].n_total += 1;
            }
            placed.push((instance, place));
        }
        // By id; the plan has them by task.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|place| node_key(&nodes[*place].name));
        let mut rank = vec![0; nodes.len()];
        order.iter().enumerate().for_each(|(at, place)| rank[*place] = at);
        nodes.sort_by_key(|node| node_key(&node.name));
        for (_, place) in &mut placed {
            *place = place.map(|place| rank[place]);
        }
        let began = vec![None; placed.len()];
        Self { instances: placed, nodes, began, first: None, last: None, is_paused: false }
    }

    /// Takes an event in; what it means for people, if it does.
    pub(super) fn apply(&mut self, event: &Json) -> Option<String> {
        let at = event["at"].as_str().and_then(moment);
        if let Some(at) = at {
            self.first.get_or_insert(at);
            self.last = Some(at);
        }
        let instance = event["instance"].as_u64().map(|idx| idx as usize);
        let body = &event["body"];
        match event["kind"].as_str().unwrap_or_default() {
            "started" => self.started(instance?, at),
            "attempt_ended" => self.ended(instance?, body, at),
            "resolved" => self.resolved(body, at),
            "paused" => {
                self.is_paused = true;
                Some("paused".to_owned())
            }
            "resumed" => {
                self.is_paused = false;
                Some("resumed".to_owned())
            }
            "stop_asked" => Some("is to stop".to_owned()),
            "node_lost" => Some("a node is not heard of".to_owned()),
            "node_back" => Some("a node is heard of again".to_owned()),
            "node_given_up" => Some("a node was not heard of for too long, and is given up".to_owned()),
            "tolerance_exceeded" => Some("more nodes of a group failed than may".to_owned()),
            _ => None,
        }
    }

    fn started(&mut self, idx: usize, at: Option<f64>) -> Option<String> {
        let (instance, place) = self.instances.get(idx)?;
        self.began[idx] = at;
        let node = &mut self.nodes[(*place)?];
        node.began = node.began.or(at);
        node.last = at;
        if !node.current.contains(&instance.task) {
            node.current.push(instance.task.clone());
        }
        Some(format!("node {}: {} begins", instance.node, instance.task))
    }

    fn ended(&mut self, idx: usize, body: &Json, at: Option<f64>) -> Option<String> {
        let (instance, place) = self.instances.get(idx)?;
        let (task, name) = (instance.task.clone(), instance.node.clone());
        let node = &mut self.nodes[(*place)?];
        node.current.retain(|current| *current != task);
        node.last = at;
        let took = self.began[idx].zip(at).map(|(began, at)| format!(" after {}", duration(at - began)));
        let took = took.unwrap_or_default();
        let why = crate::text::shortened(reason(&body["end"]), WHY_CHARS_MAX);
        let said = match body["next"]["outcome"].as_str() {
            Some("succeeded") => {
                node.n_done += 1;
                format!("is done{took}")
            }
            Some("ignored") => {
                node.n_done += 1;
                format!("failed{took}, which does not matter: {why}")
            }
            Some("cancelled") => {
                node.n_left += 1;
                format!("was stopped{took}")
            }
            Some(_) => {
                node.n_failed += 1;
                format!("failed{took}: {why}")
            }
            None => format!("failed{took} and is tried again: {why}"),
        };
        Some(format!("node {name}: {task} {said} ({}/{})", node.n_done, node.n_total))
    }

    /// Many at once: what is not going to begin any more.
    fn resolved(&mut self, body: &Json, at: Option<f64>) -> Option<String> {
        // What they need did not succeed, their node is away, or the run was stopped.
        let (mut n_blocked, mut n_lost, mut n_stopped) = (0, 0, 0);
        for end in body["ends"].as_array().into_iter().flatten() {
            let place = end[0].as_u64().and_then(|idx| self.instances.get(idx as usize)?.1);
            let Some(place) = place else { continue };
            let node = &mut self.nodes[place];
            match end[1].as_str() {
                // It was to run, and succeeded in the run that this one goes on with.
                Some("skipped") => node.n_total -= 1,
                Some("not_retried") => node.n_failed += 1,
                word => {
                    node.n_left += 1;
                    match word {
                        Some("stopped") => n_stopped += 1,
                        Some("node_lost") => n_lost += 1,
                        _ => n_blocked += 1,
                    }
                }
            }
            node.last = at;
        }
        let kinds = [
            (n_blocked, ["what it needs did not succeed", "what they need did not succeed"]),
            (
                n_lost,
                ["its node was not heard of for too long", "their nodes were not heard of for too long"],
            ),
            (n_stopped, ["the run was stopped"; 2]),
        ];
        let told: Vec<String> = kinds
            .iter()
            .filter(|(n_tasks, _)| *n_tasks > 0)
            .map(|(n_tasks, [of_one, of_many])| {
                let why = if *n_tasks == 1 { of_one } else { of_many };
                format!("{} will not begin, for {why}", counted(*n_tasks, "task"))
            })
            .collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Of all that is to be carried out, the part that is over.
    pub(super) fn counts(&self) -> (usize, usize) {
        let over = self.nodes.iter().map(|node| node.n_done + node.n_failed + node.n_left).sum();
        (over, self.nodes.iter().map(|node| node.n_total).sum())
    }
}

const WHY_CHARS_MAX: usize = 300;

/// Why an attempt ended: what its executor said, or what became of it.
fn reason(end: &Json) -> &str {
    let how = end["how"].as_str().unwrap_or_default();
    end["message"].as_str().unwrap_or(match how {
        "timed_out" => "it took longer than its timeout, and was ended",
        "cancelled" => "it was cancelled",
        "interrupted" => "it was interrupted when its agent ended",
        "lost" => "its node was not heard of for too long",
        "no_answer" => "its agent did not say how it ended",
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
            n_left: 0,
            current: Vec::new(),
            began: None,
            last: None,
        }
    }
}

/// `2026-01-31T07:00:00.123456` as seconds since 1970.
pub(super) fn moment(text: &str) -> Option<f64> {
    let (date, time) = text.trim_end_matches('Z').split_once('T')?;
    let numbers = |text: &str, separator: char| -> Option<Vec<f64>> {
        text.split(separator).map(|piece| piece.parse::<f64>().ok()).collect()
    };
    let [year, month, day] = numbers(date, '-')?[..] else { return None };
    let [hours, minutes, seconds] = numbers(time, ':')?[..] else { return None };
    // Days of the civil calendar: years begin in March, so that leap days are the last ones.
    let (shifted_year, shifted_month) =
        if month > 2.0 { (year, month - 3.0) } else { (year - 1.0, month + 9.0) };
    let leap_days =
        (shifted_year / 4.0).floor() - (shifted_year / 100.0).floor() + (shifted_year / 400.0).floor();
    let month_days = ((153.0 * shifted_month + 2.0) / 5.0).floor();
    let days = shifted_year * 365.0 + leap_days + month_days + day - 1.0 - 719_468.0;
    Some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
}

/// `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`.
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

    #[expect(clippy::needless_pass_by_value, reason = "literals read better without a sign before each")]
    fn event(kind: &str, instance: Json, at: &str, body: Json) -> Json {
        json!({"seq": 1, "kind": kind, "instance": instance, "at": format!("2026-01-31T07:00:{at}"), "body": body})
    }

    #[test]
    fn moments_are_seconds_since_1970() {
        assert_eq!(moment("1970-01-01T00:00:00"), Some(0.0));
        assert_eq!(moment("2026-01-31T07:00:01.500000"), Some(1_769_842_801.5));
        assert_eq!(moment("2024-03-01T00:00:00Z"), Some(1_709_251_200.0));
        for wrong in ["", "2026-01-31", "x", "2026-01T1:2:3", "2026-01-31T1:2"] {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_are_short() {
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
    fn what_was_stopped_did_not_fail() {
        let all = ["10", "2", "1", "master"].map(|node| instance("a", node, true));
        let mut progress = Progress::new(all.to_vec());
        let names: Vec<&str> = progress.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["1", "2", "10", "master"]);
        progress.apply(&event("started", json!(0), "01", json!({})));
        assert_eq!(progress.nodes[2].current, ["a"]);
        let cancelled = json!({"end": {"how": "cancelled"}, "next": {"outcome": "cancelled"}});
        let said = progress.apply(&event("attempt_ended", json!(0), "03", cancelled));
        assert_eq!(said.as_deref(), Some("node 10: a was stopped after 2.0 s (0/1)"));
        let rest = json!({"ends": [[1, "stopped"], [2, "stopped"], [3, "node_lost", 3]]});
        let said = progress.apply(&event("resolved", json!(null), "03", rest)).unwrap();
        assert!(said.contains("2 tasks will not begin, for the run was stopped"), "{said}");
        assert!(said.contains("1 task will not begin, for its node was not heard of"), "{said}");
        assert!(progress.nodes.iter().all(|node| node.n_failed == 0 && node.has_ended()));
    }

    #[test]
    fn events_are_folded_and_told() {
        let mut progress = Progress::new(vec![
            instance("start", "sync", true),
            instance("a", "1", true),
            instance("a", "2", false),
            instance("b", "1", true),
            instance("c", "1", true),
        ]);
        assert_eq!(progress.nodes.len(), 1);
        let said = |progress: &mut Progress, event: Json| progress.apply(&event).unwrap_or_default();
        assert_eq!(said(&mut progress, event("began", json!(null), "00", json!({}))), "");
        assert_eq!(said(&mut progress, event("started", json!(1), "01", json!({}))), "node 1: a begins");
        assert_eq!(progress.nodes[0].current, ["a"]);
        let done = json!({"end": {"how": "succeeded"}, "next": {"outcome": "succeeded"}});
        assert_eq!(
            said(&mut progress, event("attempt_ended", json!(1), "03", done)),
            "node 1: a is done after 2.0 s (1/3)"
        );
        let again = json!({"end": {"how": "failed", "message": "no"}, "next": {"retry_at": 1}});
        assert!(
            said(&mut progress, event("attempt_ended", json!(3), "04", again)).contains("is tried again: no")
        );
        let failed = json!({"end": {"how": "timed_out"}, "next": {"outcome": "failed"}});
        assert!(
            said(&mut progress, event("attempt_ended", json!(3), "05", failed))
                .contains("failed: it took longer than its timeout")
        );
        for (end, why) in [
            (json!({"how": "interrupted"}), "it was interrupted when its agent ended"),
            (json!({"how": "refused", "message": "no"}), "no"),
            (json!({"how": "of a newer version"}), "of a newer version"),
        ] {
            assert_eq!(reason(&end), why);
        }
        let rest = json!({"ends": [[4, "node_failed", 3], [2, "skipped"], [99, "stopped"]]});
        assert_eq!(
            said(&mut progress, event("resolved", json!(null), "06", rest)),
            "1 task will not begin, for what it needs did not succeed"
        );
        assert!(progress.nodes[0].has_ended());
        assert_eq!(progress.counts(), (3, 3));
        // What a later version tells is left alone.
        for odd in [json!(null), json!({}), event("exploded", json!(7), "x", json!([]))] {
            assert_eq!(progress.apply(&odd), None);
        }
    }
}
