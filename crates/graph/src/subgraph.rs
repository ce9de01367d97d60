//! Subgraph selection: tasks between start and end tasks of the dependency graph.

use stoker_model::TaskIdx;

use crate::check::order;
use crate::merge::MergedGraph;

/// Returns for each task whether it belongs to the subgraph: reachable from one of `start` (if not empty),
/// and with one of `end` (if not empty) reachable from it, both inclusive. Tasks of `include` always belong
/// to it. Fails with the unknown names.
pub fn part(
    merged: &MergedGraph<'_>,
    start: &[String],
    end: &[String],
    include: &[String],
) -> Result<Vec<bool>, Vec<String>> {
    let index_of = |name: &String| merged.tasks.iter().position(|task| task.name == name);
    let names = || start.iter().chain(end).chain(include);
    let unknown: Vec<String> = names().filter(|name| index_of(name).is_none()).cloned().collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let indices = |names: &[String]| names.iter().filter_map(index_of).map(TaskIdx::at).collect::<Vec<_>>();
    let n_tasks = merged.tasks.len();
    let mut is_selected = vec![!start.is_empty() || !end.is_empty(); n_tasks];
    if !start.is_empty() || !end.is_empty() {
        let order = order(merged);
        if !start.is_empty() {
            is_selected = both(&is_selected, &order.reachable(indices(start)));
        }
        if !end.is_empty() {
            is_selected = both(&is_selected, &order.reversed().reachable(indices(end)));
        }
    }
    for task_idx in indices(include) {
        is_selected[task_idx.index()] = true;
    }
    Ok(is_selected)
}

fn both(one: &[bool], other: &[bool]) -> Vec<bool> {
    one.iter().zip(other).map(|(one, other)| *one && *other).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::{Json, Task};

    use super::*;
    use crate::{Layer, MergeRules, Source, merge};

    fn tasks() -> Vec<Task> {
        let task = |name: &str, fields: Json| Task {
            name: name.to_owned(),
            fields: fields.as_object().cloned().unwrap_or_default(),
        };
        vec![
            task("a", json!({"type": "shell", "required_for": ["b"]})),
            task("b", json!({"type": "shell"})),
            task("c", json!({"type": "shell", "requires": ["b"]})),
            task("d", json!({"type": "shell", "requires": ["a"]})),
        ]
    }

    fn names(start: &[&str], end: &[&str], include: &[&str]) -> Result<String, Vec<String>> {
        let tasks = tasks();
        let merged = merge(&[Layer::of_tasks(Source::Release, &tasks)], MergeRules::default());
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let is_selected = part(&merged, &own(start), &own(end), &own(include))?;
        Ok(merged
            .tasks
            .iter()
            .zip(is_selected)
            .filter(|(_, is_selected)| *is_selected)
            .map(|(task, _)| task.name)
            .collect())
    }

    #[test]
    fn subgraph_includes_its_ends() {
        assert_eq!(names(&["b"], &[], &[]), Ok("bc".to_owned()));
        assert_eq!(names(&[], &["b"], &[]), Ok("ab".to_owned()));
        assert_eq!(names(&["a"], &["c"], &[]), Ok("abc".to_owned()));
        assert_eq!(names(&["b"], &["b"], &["d"]), Ok("bd".to_owned()));
        assert_eq!(names(&[], &[], &["d"]), Ok("d".to_owned()));
    }

    #[test]
    fn unknown_names_are_rejected() {
        assert_eq!(names(&["x"], &["b"], &["y"]), Err(vec!["x".to_owned(), "y".to_owned()]));
    }
}
