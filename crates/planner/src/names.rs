//! Resolution of task names and patterns to tasks.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_graph::{InvalidPattern, NamePattern};
use stoker_model::TaskIdx;
use stoker_yaql::eval::suggest::closest_name;

pub(crate) struct Names<'a> {
    all: Vec<&'a str>,
    pub(crate) index_of: HashMap<&'a str, TaskIdx>,
    resolved: HashMap<String, Resolution>,
}

/// The tasks, ascending; or why the pattern is invalid.
pub(crate) type Resolution = Result<Arc<[TaskIdx]>, InvalidPattern>;

impl<'a> Names<'a> {
    /// `all` must be sorted.
    pub(crate) fn new(all: Vec<&'a str>) -> Self {
        let index_of =
            TaskIdx::first(all.len()).zip(&all).map(|(task_idx, name)| (*name, task_idx)).collect();
        Self { all, index_of, resolved: HashMap::new() }
    }

    pub(crate) fn resolve(&mut self, name: &str) -> Resolution {
        if let Some(resolution) = self.resolved.get(name) {
            return resolution.clone();
        }
        let resolution = self.find(name);
        self.resolved.insert(name.to_owned(), resolution.clone());
        resolution
    }

    fn find(&self, name: &str) -> Resolution {
        Ok(match NamePattern::new(name)? {
            NamePattern::Exact(exact) => self.index_of.get(exact).copied().into_iter().collect(),
            pattern @ NamePattern::Regex(_) => {
                let tasks =
                    TaskIdx::first(self.all.len()).zip(&self.all).filter(|(_, name)| pattern.matches(name));
                tasks.map(|(task_idx, _)| task_idx).collect()
            }
        })
    }

    /// Reports whether another task does for the primary node what this one does for the others, such as
    /// `primary-database` and `database`.
    pub(crate) fn has_primary_counterpart(&self, name: &str) -> bool {
        let is_counterpart = |other: &str| {
            other != name && ["primary-", "primary_"].iter().any(|part| other.replacen(part, "", 1) == name)
        };
        self.all.iter().any(|other| is_counterpart(other))
    }

    pub(crate) fn suggestion(&self, name: &str) -> Option<String> {
        closest_name(name, self.all.iter().copied()).map(|best| format!("did you mean `{best}`?"))
    }
}
