//! What must be written so that a stored list of tasks becomes another: as little as possible.

use std::collections::{HashMap, HashSet};

use stoker_model::{StoredTask, Task, TaskId};

use crate::StoreError;

/// For each task of the new list the row that it keeps, and the rows that go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Diff {
    pub(super) kept: Vec<Option<TaskId>>,
    pub(super) gone: Vec<TaskId>,
    /// The old rows in their order are the new list.
    pub(super) is_empty: bool,
}

/// Tasks are compared by name, then by their fields as values: the order of keys means nothing.
pub(super) fn diff(old: &[StoredTask], new: &[Task]) -> Diff {
    let by_name: HashMap<&str, &StoredTask> =
        old.iter().map(|stored| (stored.task.name.as_str(), stored)).collect();
    let same = |task: &Task| {
        let stored = by_name.get(task.name.as_str())?;
        (stored.task.fields == task.fields).then_some(stored.id)
    };
    let kept: Vec<Option<TaskId>> = new.iter().map(same).collect();
    let staying: HashSet<TaskId> = kept.iter().flatten().copied().collect();
    let gone = old.iter().map(|stored| stored.id).filter(|id| !staying.contains(id)).collect();
    let is_empty = kept.len() == old.len() && kept.iter().zip(old).all(|(kept, old)| *kept == Some(old.id));
    Diff { kept, gone, is_empty }
}

/// Positions for a list in which some rows have one already. A row is moved only when the order asks for it or
/// there is no room between its neighbours; then all are numbered anew.
pub(super) fn positions(kept: &[Option<i64>]) -> Vec<i64> {
    fitted(kept).unwrap_or_else(|| (0..kept.len() as i64).collect())
}

fn fitted(kept: &[Option<i64>]) -> Option<Vec<i64>> {
    let mut fitted = Vec::with_capacity(kept.len());
    let mut last = -1_i64;
    for position in kept {
        let Some(position) = position else {
            fitted.push(None);
            continue;
        };
        let n_open = fitted.iter().rev().take_while(|place: &&Option<i64>| place.is_none()).count() as i64;
        if position - last <= n_open {
            return None;
        }
        last = *position;
        fitted.push(Some(last));
    }
    // What has no place yet follows its predecessor.
    let mut last = -1_i64;
    Some(
        fitted
            .into_iter()
            .map(|place| {
                last = place.unwrap_or(last + 1);
                last
            })
            .collect(),
    )
}

/// Two tasks of one name cannot both be stored.
pub(super) fn check_names(tasks: &[Task]) -> Result<(), StoreError> {
    let mut names = HashSet::new();
    if tasks.iter().all(|task| names.insert(task.name.as_str())) {
        return Ok(());
    }
    Err(StoreError::Taken { what: "task name" })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(name: &str, value: i64) -> Task {
        let fields = json!({"a": 1, "value": value});
        Task { name: name.to_owned(), fields: fields.as_object().unwrap().clone() }
    }

    fn stored(id: i64, name: &str, value: i64) -> StoredTask {
        StoredTask { id: TaskId(id), task: task(name, value) }
    }

    #[test]
    fn what_did_not_change_keeps_its_row() {
        let old = [stored(1, "a", 0), stored(2, "b", 0), stored(3, "c", 0)];
        let found = diff(&old, &[task("c", 0), task("b", 9), task("new", 0)]);
        assert_eq!(found.kept, [Some(TaskId(3)), None, None]);
        assert_eq!(found.gone, [TaskId(1), TaskId(2)]);
        assert!(!found.is_empty);
        assert!(diff(&old, &[task("a", 0), task("b", 0), task("c", 0)]).is_empty);
        assert!(!diff(&old, &[task("b", 0), task("a", 0), task("c", 0)]).is_empty);
        assert!(!diff(&old, &[task("a", 0), task("b", 0)]).is_empty);
        assert!(diff(&[], &[]).is_empty);
    }

    #[test]
    fn the_order_of_keys_means_nothing() {
        let fields = json!({"value": 0, "a": 1}).as_object().unwrap().clone();
        assert!(diff(&[stored(1, "a", 0)], &[Task { name: "a".to_owned(), fields }]).is_empty);
    }

    #[test]
    fn rows_move_only_when_they_must() {
        let check =
            |kept: &[Option<i64>], expected: &[i64]| assert_eq!(positions(kept), expected, "{kept:?}");
        check(&[], &[]);
        check(&[None, None], &[0, 1]);
        // One replaced, one removed, one appended: nobody else moves.
        check(&[Some(0), None, Some(2)], &[0, 1, 2]);
        check(&[Some(0), Some(2)], &[0, 2]);
        check(&[Some(0), Some(2), None], &[0, 2, 3]);
        check(&[None, Some(4), None, None, Some(9)], &[0, 4, 5, 6, 9]);
        // No room, or another order: all anew.
        check(&[Some(0), None, Some(1)], &[0, 1, 2]);
        check(&[None, Some(0)], &[0, 1]);
        check(&[Some(5), Some(3)], &[0, 1]);
    }
}
