//! Iteration over the matches of a pattern.

use std::sync::Arc;

use crate::pyregex::{Match, Regex, ScanState};
use crate::stdlib::prelude::*;

/// An iterator over matches that charges each search to the budget.
pub(super) struct Matches {
    pub(super) regex: Arc<Regex>,
    pub(super) text: Arc<str>,
    state: ScanState,
    at: usize,
}

impl Matches {
    pub(super) fn new(regex: Arc<Regex>, text: Arc<str>) -> Self {
        Self { regex, text, state: ScanState::default(), at: 0 }
    }

    pub(super) fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Match>> {
        // A search may scan the rest of the text and find only a short match, so a fraction of the rest is
        // charged even if it is not consumed.
        let remaining = (self.text.len() - self.at) as u64;
        cx.steps(8 + remaining / 16_384)?;
        self.state.work = cx.regex_work();
        let matched = self.regex.search_from(&self.text, &mut self.state);
        cx.steps(self.state.work.spent)?;
        let matched = matched?;
        let end = matched.as_ref().map_or(self.text.len(), Match::end);
        cx.steps(end.saturating_sub(self.at) as u64 / 16)?;
        self.at = end;
        Ok(matched)
    }

    /// Returns a range of the text.
    pub(super) fn piece(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// Reports whether another match is needed; a limit of 0 means all, a negative limit none.
pub(super) fn needs_more(done: i64, limit: i64) -> bool {
    limit == 0 || done < limit
}
