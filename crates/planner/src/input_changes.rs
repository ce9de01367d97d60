//! What changes in the inputs of instances that run, for display.

use std::collections::HashMap;

use stoker_model::{Json, JsonMap};

use crate::extras::{ChangedInstances, InputChange};
use crate::plan::{DetailsIdx, Plan, PlannedTask};
use crate::reasons::Difference;

/// Inputs of the last successes, as [`crate::inputs_document`] stores them. Many instances share a document.
#[derive(Clone, Debug, Default)]
pub struct OldInputs {
    documents: Vec<JsonMap>,
    of: HashMap<String, HashMap<String, usize>>,
}

impl OldInputs {
    /// Adds a document; returns its index.
    pub fn add(&mut self, document: JsonMap) -> usize {
        self.documents.push(document);
        self.documents.len() - 1
    }

    /// Sets the inputs of a task on a node to the document with this index.
    pub fn set(&mut self, task: &str, uid: &str, document_idx: usize) {
        self.of.entry(task.to_owned()).or_default().insert(uid.to_owned(), document_idx);
    }

    fn get(&self, task: &str, uid: &str) -> Option<usize> {
        let document_idx = *self.of.get(task)?.get(uid)?;
        (document_idx < self.documents.len()).then_some(document_idx)
    }
}

/// Listed differences per change; the others are only counted.
const N_LISTED: usize = 50;
/// Unchanged lines shown around changed lines of a text.
const N_CONTEXT: usize = 3;

/// Comparisons of a plan; further instances are not described. Masking makes a comparison expensive in a fleet with
/// many secrets, and no reader looks at more.
const N_COMPARED: usize = 5_000;

/// The distinct changes of inputs, and the running instances of each. `new` gives the document of the inputs for an entry
/// of [`PlannedTask::details`], with secrets replaced like those of the old ones. It is called only for entries with old
/// inputs: in a first run of a large fleet, documents of all instances would need more memory than the plan.
pub fn input_changes(
    plan: &Plan,
    old: &OldInputs,
    new: impl Fn(&PlannedTask, DetailsIdx) -> JsonMap,
) -> (Vec<InputChange>, Vec<ChangedInstances>) {
    let mut changes: Vec<InputChange> = Vec::new();
    let mut positions: HashMap<InputChange, u32> = HashMap::new();
    let mut of: Vec<ChangedInstances> = Vec::new();
    let mut n_compared = 0;
    for task in &plan.tasks {
        let mut documents: HashMap<DetailsIdx, JsonMap> = HashMap::new();
        // By details and old inputs; `None` for all nodes without old inputs.
        let mut by_pair: HashMap<Option<(DetailsIdx, usize)>, Option<u32>> = HashMap::new();
        for instance in plan.instances_of(task) {
            let Some(details_idx) = plan.details_idx(instance.idx) else { continue };
            let old_idx = old.get(instance.task, instance.node);
            // A node without old inputs is reported as new, whatever its new inputs are.
            let pair = old_idx.map(|old_idx| (details_idx, old_idx));
            let change_idx = *by_pair.entry(pair).or_insert_with(|| {
                let change = match old_idx {
                    None => InputChange { differences: Vec::new(), n_differences: 0, is_first: true },
                    Some(_) if n_compared >= N_COMPARED => return None,
                    Some(old_idx) => {
                        n_compared += 1;
                        let document = documents.entry(details_idx).or_insert_with(|| new(task, details_idx));
                        compare(&old.documents[old_idx], document)?
                    }
                };
                if let Some(change_idx) = positions.get(&change) {
                    return Some(*change_idx);
                }
                let change_idx = u32::try_from(changes.len()).ok()?;
                changes.push(change.clone());
                positions.insert(change, change_idx);
                Some(change_idx)
            });
            if let Some(change_idx) = change_idx {
                push(&mut of, instance.idx.get(), change_idx);
            }
        }
    }
    (changes, of)
}

/// Adds an instance, to the last range if it continues it.
fn push(of: &mut Vec<ChangedInstances>, instance_idx: u32, change_idx: u32) {
    match of.last_mut() {
        Some(last) if last.change_idx == change_idx && last.first + last.n_instances == instance_idx => {
            last.n_instances += 1;
        }
        _ => of.push(ChangedInstances { first: instance_idx, n_instances: 1, change_idx }),
    }
}

/// The differences between two documents; `None` if they are equal.
fn compare(old: &JsonMap, new: &JsonMap) -> Option<InputChange> {
    let mut comparer = Comparer::default();
    comparer.maps("", old, new);
    let Comparer { listed, n_total } = comparer;
    (n_total > 0).then_some(InputChange { differences: listed, n_differences: n_total, is_first: false })
}

#[derive(Default)]
struct Comparer {
    listed: Vec<Difference>,
    n_total: u32,
}

impl Comparer {
    fn maps(&mut self, path: &str, old: &JsonMap, new: &JsonMap) {
        let step = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        for (key, old) in old {
            self.values(&step(key), Some(old), new.get(key));
        }
        for (key, new) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
            self.values(&step(key), None, Some(new));
        }
    }

    fn values(&mut self, path: &str, old: Option<&Json>, new: Option<&Json>) {
        match (old, new) {
            (Some(old), Some(new)) if old == new => {}
            (Some(Json::Object(old)), Some(Json::Object(new))) if !is_hashed(old) && !is_hashed(new) => {
                self.maps(path, old, new);
            }
            (Some(Json::Array(old)), Some(Json::Array(new))) => {
                for at in 0..old.len().max(new.len()) {
                    self.values(&format!("{path}[{at}]"), old.get(at), new.get(at));
                }
            }
            (Some(Json::String(old)), Some(Json::String(new)))
                if old.contains('\n') || new.contains('\n') =>
            {
                let (old, new) = changed_lines(old, new);
                self.report(path, Some(old), Some(new));
            }
            _ => self.report(path, old.map(text), new.map(text)),
        }
    }

    fn report(&mut self, path: &str, old: Option<String>, new: Option<String>) {
        self.n_total += 1;
        if self.listed.len() < N_LISTED {
            self.listed.push(Difference { path: path.to_owned(), old, new });
        }
    }
}

/// Whether a map stands for a secret or a long text.
fn is_hashed(map: &JsonMap) -> bool {
    map.contains_key("$secret") || map.contains_key("$text")
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(map) if map.contains_key("$secret") => {
            map.get("text").and_then(Json::as_str).unwrap_or("(secret)").to_owned()
        }
        Json::Object(map) if map.contains_key("$text") => {
            format!("(text of {} characters)", map.get("chars").and_then(Json::as_u64).unwrap_or_default())
        }
        other => other.to_string(),
    }
}

/// The lines from the first to the last that differ, with context.
fn changed_lines(old: &str, new: &str) -> (String, String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let n_before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - n_before;
    let n_after =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let excerpt = |lines: &[&str]| {
        let start = n_before.saturating_sub(N_CONTEXT);
        let end = (lines.len() - n_after + N_CONTEXT).min(lines.len());
        lines[start..end].join("\n")
    };
    (excerpt(&old), excerpt(&new))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(old: &Json, new: &Json) -> Vec<String> {
        let change = compare(old.as_object().unwrap(), new.as_object().unwrap());
        let listed = change.map(|change| change.differences).unwrap_or_default();
        listed.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn differences_name_paths_and_values() {
        let old = json!({"cmd": "a", "env": {"A": 1, "B": 2}, "list": [1, 2], "gone": null});
        let new = json!({"cmd": "b", "env": {"A": 1, "B": true}, "list": [1, 3, 4], "more": {"x": 1}});
        let expected = [
            "cmd changed from a to b",
            "env.B changed from 2 to true",
            "list[1] changed from 2 to 3",
            "list[2] added: 4",
            "gone removed: null",
            "more added: {\"x\":1}",
        ];
        assert_eq!(differences(&old, &new), expected);
        assert!(differences(&old, &old).is_empty());
    }

    #[test]
    fn secrets_and_long_texts_stay_masked() {
        let secret = |hash: &str| json!({"p": {"$secret": hash, "text": "-p(secret)"}});
        assert_eq!(differences(&secret("00"), &secret("01")), ["p changed: -p(secret)"]);
        assert!(differences(&secret("00"), &secret("00")).is_empty());
        let long = |hash: &str, chars: u32| json!({"data": {"$text": hash, "chars": chars}});
        let expected = "data changed from (text of 5000 characters) to (text of 5001 characters)";
        assert_eq!(differences(&long("00", 5000), &long("01", 5001)), [expected]);
    }

    #[test]
    fn texts_show_changed_lines_with_context() {
        let whole = |middle: &str| format!("1\n2\n3\n4\n{middle}\n6\n7\n8\n9");
        assert_eq!(
            changed_lines(&whole("x"), &whole("y")),
            ("2\n3\n4\nx\n6\n7\n8".into(), "2\n3\n4\ny\n6\n7\n8".into())
        );
        assert_eq!(changed_lines("a\nb", "a\nb\nb"), ("a\nb".into(), "a\nb\nb".into()));
        assert_eq!(changed_lines("", "a\n"), (String::new(), "a".into()));
        assert_eq!(changed_lines("a\na", "a"), ("a\na".into(), "a".into()));
    }

    #[test]
    fn differences_are_counted_beyond_the_limit() {
        let map = |value: i64| (0..60).map(|n| (n.to_string(), json!(value))).collect::<JsonMap>();
        let change = compare(&map(1), &map(2)).unwrap();
        assert_eq!((change.differences.len(), change.n_differences), (N_LISTED, 60));
    }
}
