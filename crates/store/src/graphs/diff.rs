//! Minimal set of row changes that turns a stored task list into another.

use std::collections::{HashMap, HashSet};

use stoker_model::{StoredTask, Task, TaskId};

use crate::StoreError;

/// Row that each new task reuses, and the rows to delete.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Diff {
    pub(super) reused: Vec<Option<TaskId>>,
    pub(super) deleted: Vec<TaskId>,
    /// The lists are equal: no rows to insert, delete or move.
    pub(super) is_empty: bool,
}

/// Compares tasks by name, then by field values. The order of keys is irrelevant.
pub(super) fn diff(old: &[StoredTask], new: &[Task]) -> Diff {
    let by_name: HashMap<&str, &StoredTask> =
        old.iter().map(|stored| (stored.task.name.as_str(), stored)).collect();
    let same = |task: &Task| {
        let stored = by_name.get(task.name.as_str())?;
        (stored.task.fields == task.fields).then_some(stored.id)
    };
    let reused: Vec<Option<TaskId>> = new.iter().map(same).collect();
    let reused_ids: HashSet<TaskId> = reused.iter().flatten().copied().collect();
    let deleted = old.iter().map(|stored| stored.id).filter(|id| !reused_ids.contains(id)).collect();
    let is_empty =
        reused.len() == old.len() && reused.iter().zip(old).all(|(reused, old)| *reused == Some(old.id));
    Diff { reused, deleted, is_empty }
}

/// Returns positions for a list in which some rows already have a position. Existing positions are reused if
/// they are in order and leave room for the new rows; otherwise the whole list is renumbered.
pub(super) fn positions(reused: &[Option<i64>]) -> Vec<i64> {
    fit(reused).unwrap_or_else(|| (0..reused.len() as i64).collect())
}

fn fit(reused: &[Option<i64>]) -> Option<Vec<i64>> {
    let mut positions = Vec::with_capacity(reused.len());
    let mut last = -1_i64;
    for position in reused {
        let Some(position) = position else {
            positions.push(None);
            continue;
        };
        let n_open =
            positions.iter().rev().take_while(|position: &&Option<i64>| position.is_none()).count() as i64;
        if position - last <= n_open {
            return None;
        }
        last = *position;
        positions.push(Some(last));
    }
    // New rows follow their predecessor.
    let mut last = -1_i64;
    Some(
        positions
            .into_iter()
            .map(|position| {
                last = position.unwrap_or(last + 1);
                last
            })
            .collect(),
    )
}

/// Rejects duplicate task names.
pub(super) fn check_names(tasks: &[Task]) -> Result<(), StoreError> {
    let mut names = HashSet::new();
    if tasks.iter().all(|task| names.insert(task.name.as_str())) {
        return Ok(());
    }
    Err(StoreError::AlreadyExists { what: "task name" })
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
    fn unchanged_tasks_keep_their_rows() {
        let old = [stored(1, "a", 0), stored(2, "b", 0), stored(3, "c", 0)];
        let difference = diff(&old, &[task("c", 0), task("b", 9), task("new", 0)]);
        assert_eq!(difference.reused, [Some(TaskId(3)), None, None]);
        assert_eq!(difference.deleted, [TaskId(1), TaskId(2)]);
        assert!(!difference.is_empty);
        assert!(diff(&old, &[task("a", 0), task("b", 0), task("c", 0)]).is_empty);
        assert!(!diff(&old, &[task("b", 0), task("a", 0), task("c", 0)]).is_empty);
        assert!(!diff(&old, &[task("a", 0), task("b", 0)]).is_empty);
        assert!(diff(&[], &[]).is_empty);
    }

    #[test]
    fn key_order_is_irrelevant() {
        let fields = json!({"value": 0, "a": 1}).as_object().unwrap().clone();
        assert!(diff(&[stored(1, "a", 0)], &[Task { name: "a".to_owned(), fields }]).is_empty);
    }

    #[test]
    fn rows_move_only_when_necessary() {
        let check =
            |reused: &[Option<i64>], expected: &[i64]| assert_eq!(positions(reused), expected, "{reused:?}");
        check(&[], &[]);
        check(&[None, None], &[0, 1]);
        // One row is replaced, one removed, one appended: no other row moves.
        check(&[Some(0), None, Some(2)], &[0, 1, 2]);
        check(&[Some(0), Some(2)], &[0, 2]);
        check(&[Some(0), Some(2), None], &[0, 2, 3]);
        check(&[None, Some(4), None, None, Some(9)], &[0, 4, 5, 6, 9]);
        // No gap, or a different order: renumber the list.
        check(&[Some(0), None, Some(1)], &[0, 1, 2]);
        check(&[None, Some(0)], &[0, 1]);
        check(&[Some(5), Some(3)], &[0, 1]);
    }
}
