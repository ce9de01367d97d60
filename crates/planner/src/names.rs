//! Which tasks a name means.

use std::collections::HashMap;
use std::sync::Arc;

use stoker_graph::Pattern;
use stoker_yaql::eval::suggest::closest;

use crate::compute::subjects::TaskIdx;

pub(crate) struct Names<'a> {
    all: Vec<&'a str>,
    pub(crate) index_of: HashMap<&'a str, TaskIdx>,
    known: HashMap<String, Meaning>,
}

/// The tasks, ascending; or why a pattern is none.
pub(crate) type Meaning = Result<Arc<[TaskIdx]>, String>;

impl<'a> Names<'a> {
    /// `all` ascend.
    pub(crate) fn new(all: Vec<&'a str>) -> Self {
        let index_of = (0_u32..).zip(&all).map(|(task_idx, name)| (*name, task_idx)).collect();
        Self { all, index_of, known: HashMap::new() }
    }

    pub(crate) fn meaning(&mut self, name: &str) -> Meaning {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let meaning = self.find(name);
        self.known.insert(name.to_owned(), meaning.clone());
        meaning
    }

    fn find(&self, name: &str) -> Meaning {
        Ok(match Pattern::new(name)? {
            Pattern::Exact(exact) => self.index_of.get(exact).copied().into_iter().collect(),
            pattern @ Pattern::Regex(_) => {
                let tasks = (0_u32..).zip(&self.all).filter(|(_, name)| pattern.matches(name));
                tasks.map(|(task_idx, _)| task_idx).collect()
            }
        })
    }

    pub(crate) fn suggestion(&self, name: &str) -> Option<String> {
        closest(name, self.all.iter().copied()).map(|best| format!("did you mean `{best}`?"))
    }
}
