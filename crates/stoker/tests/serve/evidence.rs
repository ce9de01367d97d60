//! Verifies the traces of a run against exactly-once execution. The verification has its own tests with corrupted traces.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Traces of a run in which every task was executed once on every node.
pub(crate) struct Evidence {
    /// Task names.
    pub(crate) tasks: Vec<String>,
    /// For each node, the lines that tasks wrote, one per task.
    pub(crate) lines: Vec<String>,
    /// For each node, the started attempts, one line `run/instance/attempt@…` each.
    pub(crate) attempts: Vec<String>,
    pub(crate) history: Vec<Value>,
    pub(crate) events: Vec<Value>,
}

impl Evidence {
    /// Returns the successful attempt of each instance, and all violations.
    pub(crate) fn verify(&self) -> (BTreeMap<i64, i64>, Vec<String>) {
        let mut violations = Vec::new();
        self.verify_lines(&mut violations);
        self.verify_history(&mut violations);
        let succeeded = self.verify_events(&mut violations);
        self.verify_attempts(&succeeded, &mut violations);
        (succeeded, violations)
    }

    fn n_instances(&self) -> usize {
        self.tasks.len() * self.lines.len()
    }

    fn verify_lines(&self, violations: &mut Vec<String>) {
        for (node_idx, text) in self.lines.iter().enumerate() {
            let mut counts: BTreeMap<&str, usize> =
                self.tasks.iter().map(|task| (task.as_str(), 0)).collect();
            for line in text.lines() {
                match counts.get_mut(line) {
                    Some(count) => *count += 1,
                    None => violations.push(format!("node {node_idx} has a line of an unknown task: {line}")),
                }
            }
            let incorrect = counts.iter().filter(|(_, count)| **count != 1);
            violations.extend(
                incorrect.map(|(task, count)| format!("node {node_idx} has {count} lines of {task}")),
            );
        }
    }

    fn verify_history(&self, violations: &mut Vec<String>) {
        if self.history.len() != self.n_instances() {
            violations.push(format!(
                "the history has {} rows for {} instances",
                self.history.len(),
                self.n_instances()
            ));
        }
        for row in &self.history {
            let is_timed = row["time_start"].is_string() && row["time_end"].is_string();
            if row["status"] != "ready" || !is_timed {
                violations.push(format!("the history has an unsuccessful row: {row}"));
            }
        }
    }

    /// Verifies that sequence numbers have no gaps, and that each instance succeeded once, possibly after
    /// interruptions.
    fn verify_events(&self, violations: &mut Vec<String>) -> BTreeMap<i64, i64> {
        for (event, number) in self.events.iter().zip(1..) {
            if event["seq"] != number {
                violations.push(format!("event {number} is missing or duplicated: {event}"));
                break;
            }
        }
        let mut succeeded = BTreeMap::new();
        for event in &self.events {
            let (instance, body) = (event["instance"].as_i64().unwrap_or(-1), &event["body"]);
            match (event["kind"].as_str(), body["end"]["how"].as_str()) {
                (Some("late_result"), _) => violations.push(format!("late result: {event}")),
                (Some("attempt_ended"), Some("succeeded")) => {
                    let attempt = body["attempt"].as_i64().unwrap_or(-1);
                    let previous = succeeded.insert(instance, attempt);
                    if previous.is_some() {
                        violations.push(format!("instance {instance} succeeded twice: {event}"));
                    }
                }
                (Some("attempt_ended"), Some("interrupted")) if !succeeded.contains_key(&instance) => {}
                (Some("attempt_ended"), _) => {
                    violations.push(format!("unexpected result of an attempt: {event}"));
                }
                _ => {}
            }
        }
        if succeeded.len() != self.n_instances() {
            violations.push(format!("{} of {} instances succeeded", succeeded.len(), self.n_instances()));
        }
        succeeded
    }

    /// Verifies that no attempt was started twice or after a success.
    fn verify_attempts(&self, succeeded: &BTreeMap<i64, i64>, violations: &mut Vec<String>) {
        let mut started = BTreeSet::new();
        for line in self.attempts.iter().flat_map(|text| text.lines()) {
            let key = line.split_once('@').map_or(line, |(key, _)| key);
            let numbers: Vec<i64> = key.split('/').filter_map(|number| number.parse().ok()).collect();
            let [_, instance, attempt] = numbers[..] else {
                violations.push(format!("malformed attempt: {line}"));
                continue;
            };
            if succeeded.get(&instance).is_some_and(|last| attempt > *last) {
                violations.push(format!("{key} was started after a success"));
            }
            if !started.insert(key.to_owned()) {
                violations.push(format!("{key} was executed twice"));
            }
        }
        for (instance, attempt) in succeeded {
            if !started.iter().any(|key| key.ends_with(&format!("/{instance}/{attempt}"))) {
                violations.push(format!(
                    "attempt {attempt} of instance {instance} succeeded but was never started"
                ));
            }
        }
    }
}

mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the evidence of two tasks on two nodes; one attempt was interrupted and retried.
    fn valid_evidence() -> Evidence {
        let ended_event = |seq: i64, instance: i64, attempt: i64, how: &str| {
            json!({"seq": seq, "kind": "attempt_ended", "instance": instance,
                   "body": {"attempt": attempt, "end": {"how": how}}})
        };
        let row = json!({"status": "ready", "time_start": "a", "time_end": "b"});
        Evidence {
            tasks: vec!["a".to_owned(), "b".to_owned()],
            lines: vec!["a\nb\n".to_owned(), "b\na\n".to_owned()],
            attempts: vec!["7/0/1@x\n7/1/1@x\n7/1/2@x\n".to_owned(), "7/2/1@x\n7/3/1@x\n".to_owned()],
            history: vec![row; 4],
            events: vec![
                json!({"seq": 1, "kind": "began", "instance": null, "body": {}}),
                ended_event(2, 0, 1, "succeeded"),
                ended_event(3, 1, 1, "interrupted"),
                ended_event(4, 2, 1, "succeeded"),
                ended_event(5, 1, 2, "succeeded"),
                ended_event(6, 3, 1, "succeeded"),
            ],
        }
    }

    #[test]
    fn valid_evidence_has_no_violations() {
        let (succeeded, violations) = valid_evidence().verify();
        assert_eq!(violations, Vec::<String>::new());
        assert_eq!(succeeded, BTreeMap::from([(0, 1), (1, 2), (2, 1), (3, 1)]));
    }

    #[test]
    fn each_corruption_is_detected() {
        type Corrupt = fn(&mut Evidence);
        let cases: [(&str, Corrupt); 14] = [
            ("has 2 lines of a", |evidence| evidence.lines[0].push_str("a\n")),
            ("has 0 lines of b", |evidence| evidence.lines[1] = "a\n".to_owned()),
            ("a line of an unknown task", |evidence| evidence.lines[1].push_str("c\n")),
            ("has 0 lines of b", |evidence| evidence.lines[0] = "a\nbb\n".to_owned()),
            ("was executed twice", |evidence| evidence.attempts[0].push_str("7/0/1@x\n")),
            ("was started after a success", |evidence| evidence.attempts[0].push_str("7/0/2@x\n")),
            ("succeeded but was never started", |evidence| evidence.attempts[1] = "7/2/1@x\n".to_owned()),
            ("malformed attempt", |evidence| evidence.attempts[1].push_str("?@x\n")),
            ("the history has 3 rows", |evidence| _ = evidence.history.pop()),
            ("an unsuccessful row", |evidence| evidence.history[0]["status"] = json!("error")),
            ("an unsuccessful row", |evidence| evidence.history[0]["time_end"] = json!(null)),
            ("is missing or duplicated", |evidence| _ = evidence.events.remove(2)),
            ("succeeded twice", |evidence| evidence.events[2]["instance"] = json!(0)),
            ("late result", |evidence| evidence.events[0]["kind"] = json!("late_result")),
        ];
        for (violation, corrupt) in cases {
            let mut evidence = valid_evidence();
            corrupt(&mut evidence);
            // Turn the interruption of another instance into a second success.
            if violation == "succeeded twice" {
                evidence.events[2]["body"]["end"]["how"] = json!("succeeded");
            }
            let (_, violations) = evidence.verify();
            assert!(
                violations.iter().any(|message| message.contains(violation)),
                "{violation}: {violations:?}"
            );
        }
    }
}
