//! What a run leaves behind, and what speaks against it having been carried out exactly once. That these doubts arise is
//! tested too: a judge that never objects proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Every task ran once on every node; each left its line, and each attempt its own.
pub(crate) struct Evidence {
    /// Names of the tasks.
    pub(crate) tasks: Vec<String>,
    /// For each node what its tasks wrote, a line a task.
    pub(crate) lines: Vec<String>,
    /// For each node the attempts that were begun, `run/instance/attempt@…` a line.
    pub(crate) attempts: Vec<String>,
    pub(crate) history: Vec<Value>,
    pub(crate) events: Vec<Value>,
}

impl Evidence {
    /// The attempt with which each instance succeeded, and everything that is not as it should be.
    pub(crate) fn judge(&self) -> (BTreeMap<i64, i64>, Vec<String>) {
        let mut doubts = Vec::new();
        self.judge_lines(&mut doubts);
        self.judge_history(&mut doubts);
        let succeeded = self.judge_events(&mut doubts);
        self.judge_attempts(&succeeded, &mut doubts);
        (succeeded, doubts)
    }

    fn n_instances(&self) -> usize {
        self.tasks.len() * self.lines.len()
    }

    fn judge_lines(&self, doubts: &mut Vec<String>) {
        for (place, text) in self.lines.iter().enumerate() {
            let mut counts: BTreeMap<&str, usize> =
                self.tasks.iter().map(|task| (task.as_str(), 0)).collect();
            for line in text.lines() {
                match counts.get_mut(line) {
                    Some(count) => *count += 1,
                    None => doubts.push(format!("on node {place} there is a line of no task: {line}")),
                }
            }
            let wrong = counts.iter().filter(|(_, count)| **count != 1);
            doubts.extend(
                wrong.map(|(task, count)| {
                    format!("on node {place} the line of {task} is there {count} times")
                }),
            );
        }
    }

    fn judge_history(&self, doubts: &mut Vec<String>) {
        if self.history.len() != self.n_instances() {
            doubts.push(format!(
                "the history has {} rows for {} instances",
                self.history.len(),
                self.n_instances()
            ));
        }
        for row in &self.history {
            let is_timed = row["time_start"].is_string() && row["time_end"].is_string();
            if row["status"] != "ready" || !is_timed {
                doubts.push(format!("the history tells of something that did not end well: {row}"));
            }
        }
    }

    /// Numbers without gaps, one success for each instance, and before it nothing but interruptions.
    fn judge_events(&self, doubts: &mut Vec<String>) -> BTreeMap<i64, i64> {
        for (event, number) in self.events.iter().zip(1..) {
            if event["seq"] != number {
                doubts.push(format!("event {number} is missing or twice there: {event}"));
                break;
            }
        }
        let mut succeeded = BTreeMap::new();
        for event in &self.events {
            let (instance, body) = (event["instance"].as_i64().unwrap_or(-1), &event["body"]);
            match (event["kind"].as_str(), body["end"]["how"].as_str()) {
                (Some("late_result"), _) => doubts.push(format!("a result came too late: {event}")),
                (Some("attempt_ended"), Some("succeeded")) => {
                    let attempt = body["attempt"].as_i64().unwrap_or(-1);
                    let before = succeeded.insert(instance, attempt);
                    if before.is_some() {
                        doubts.push(format!("instance {instance} succeeded twice: {event}"));
                    }
                }
                (Some("attempt_ended"), Some("interrupted")) if !succeeded.contains_key(&instance) => {}
                (Some("attempt_ended"), _) => {
                    doubts.push(format!("an attempt ended as none should: {event}"));
                }
                _ => {}
            }
        }
        if succeeded.len() != self.n_instances() {
            doubts.push(format!("{} of {} instances succeeded", succeeded.len(), self.n_instances()));
        }
        succeeded
    }

    /// No attempt was begun twice, and none that nobody asked for.
    fn judge_attempts(&self, succeeded: &BTreeMap<i64, i64>, doubts: &mut Vec<String>) {
        let mut begun = BTreeSet::new();
        for line in self.attempts.iter().flat_map(|text| text.lines()) {
            let key = line.split_once('@').map_or(line, |(key, _)| key);
            let numbers: Vec<i64> = key.split('/').filter_map(|number| number.parse().ok()).collect();
            let [_, instance, attempt] = numbers[..] else {
                doubts.push(format!("an attempt without a name was begun: {line}"));
                continue;
            };
            if succeeded.get(&instance).is_some_and(|last| attempt > *last) {
                doubts.push(format!("{key} was begun after the one that succeeded"));
            }
            if !begun.insert(key.to_owned()) {
                doubts.push(format!("{key} was carried out twice"));
            }
        }
        for (instance, attempt) in succeeded {
            if !begun.iter().any(|key| key.ends_with(&format!("/{instance}/{attempt}"))) {
                doubts
                    .push(format!("attempt {attempt} of instance {instance} succeeded and was never begun"));
            }
        }
    }
}

mod tests {
    use serde_json::json;

    use super::*;

    /// Two tasks on two nodes; one attempt was interrupted and begun again.
    fn sound() -> Evidence {
        let ended = |seq: i64, instance: i64, attempt: i64, how: &str| {
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
                ended(2, 0, 1, "succeeded"),
                ended(3, 1, 1, "interrupted"),
                ended(4, 2, 1, "succeeded"),
                ended(5, 1, 2, "succeeded"),
                ended(6, 3, 1, "succeeded"),
            ],
        }
    }

    #[test]
    fn what_is_as_it_should_be_raises_no_doubt() {
        let (succeeded, doubts) = sound().judge();
        assert_eq!(doubts, Vec::<String>::new());
        assert_eq!(succeeded, BTreeMap::from([(0, 1), (1, 2), (2, 1), (3, 1)]));
    }

    #[test]
    fn everything_that_is_not_raises_its_doubt() {
        type Spoil = fn(&mut Evidence);
        let cases: [(&str, Spoil); 14] = [
            ("the line of a is there 2 times", |evidence| evidence.lines[0].push_str("a\n")),
            ("the line of b is there 0 times", |evidence| evidence.lines[1] = "a\n".to_owned()),
            ("a line of no task", |evidence| evidence.lines[1].push_str("c\n")),
            ("the line of b is there 0 times", |evidence| evidence.lines[0] = "a\nbb\n".to_owned()),
            ("was carried out twice", |evidence| evidence.attempts[0].push_str("7/0/1@x\n")),
            ("was begun after the one that succeeded", |evidence| evidence.attempts[0].push_str("7/0/2@x\n")),
            ("succeeded and was never begun", |evidence| evidence.attempts[1] = "7/2/1@x\n".to_owned()),
            ("an attempt without a name", |evidence| evidence.attempts[1].push_str("?@x\n")),
            ("the history has 3 rows", |evidence| _ = evidence.history.pop()),
            ("did not end well", |evidence| evidence.history[0]["status"] = json!("error")),
            ("did not end well", |evidence| evidence.history[0]["time_end"] = json!(null)),
            ("is missing or twice there", |evidence| _ = evidence.events.remove(2)),
            ("succeeded twice", |evidence| evidence.events[2]["instance"] = json!(0)),
            ("came too late", |evidence| evidence.events[0]["kind"] = json!("late_result")),
        ];
        for (doubt, spoil) in cases {
            let mut evidence = sound();
            spoil(&mut evidence);
            // The interruption of another instance counts as its success, so that it has two.
            if doubt == "succeeded twice" {
                evidence.events[2]["body"]["end"]["how"] = json!("succeeded");
            }
            let (_, doubts) = evidence.judge();
            assert!(doubts.iter().any(|told| told.contains(doubt)), "{doubt}: {doubts:?}");
        }
    }
}
