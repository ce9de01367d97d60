//! A part of a graph: what comes after some tasks and before others.

use crate::check::order;
use crate::merge::Merged;

/// Per task whether it belongs to the part: after one of `start` (if any are given) and before one of `end` (if any
/// are given), these tasks included; and the tasks of `include` in any case. Or the names that are no tasks.
pub fn part(
    merged: &Merged<'_>,
    start: &[String],
    end: &[String],
    include: &[String],
) -> Result<Vec<bool>, Vec<String>> {
    let place_of = |name: &String| merged.tasks.iter().position(|task| task.name == name);
    let names = || start.iter().chain(end).chain(include);
    let unknown: Vec<String> = names().filter(|name| place_of(name).is_none()).cloned().collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let places =
        |names: &[String]| names.iter().filter_map(place_of).map(|place| place as u32).collect::<Vec<_>>();
    let n_tasks = merged.tasks.len();
    let mut keep = vec![!start.is_empty() || !end.is_empty(); n_tasks];
    if !start.is_empty() || !end.is_empty() {
        let order = order(merged);
        if !start.is_empty() {
            keep = both(&keep, &order.reachable(places(start)));
        }
        if !end.is_empty() {
            keep = both(&keep, &order.reversed().reachable(places(end)));
        }
    }
    for place in places(include) {
        keep[place as usize] = true;
    }
    Ok(keep)
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
        let keep = part(&merged, &own(start), &own(end), &own(include))?;
        Ok(merged.tasks.iter().zip(keep).filter(|(_, keep)| *keep).map(|(task, _)| task.name).collect())
    }

    #[test]
    fn ends_are_part_of_it() {
        assert_eq!(names(&["b"], &[], &[]), Ok("bc".to_owned()));
        assert_eq!(names(&[], &["b"], &[]), Ok("ab".to_owned()));
        assert_eq!(names(&["a"], &["c"], &[]), Ok("abc".to_owned()));
        assert_eq!(names(&["b"], &["b"], &["d"]), Ok("bd".to_owned()));
        assert_eq!(names(&[], &[], &["d"]), Ok("d".to_owned()));
    }

    #[test]
    fn unknown_names_are_told() {
        assert_eq!(names(&["x"], &["b"], &["y"]), Err(vec!["x".to_owned(), "y".to_owned()]));
    }
}
