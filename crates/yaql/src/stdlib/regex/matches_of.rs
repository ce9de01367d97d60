//! The matches of a pattern in a text, one after the other.

use std::sync::Arc;

use crate::pyregex::{Match, Regex, ScanState};
use crate::stdlib::prelude::*;

/// A walk over matches that pays for the work of each search.
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
        // A search may look at all that is left and yet match something short, so even the part
        // that turns out not to be needed counts a little.
        let left = (self.text.len() - self.at) as u64;
        cx.steps(8 + left / 16_384)?;
        self.state.work = cx.regex_work();
        let found = self.regex.search_from(&self.text, &mut self.state);
        cx.steps(self.state.work.spent)?;
        let found = found?;
        let end = found.as_ref().map_or(self.text.len(), Match::end);
        cx.steps(end.saturating_sub(self.at) as u64 / 16)?;
        self.at = end;
        Ok(found)
    }

    /// A piece of the text.
    pub(super) fn piece(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// Whether another match is wanted: all when the limit is 0, none when it is negative.
pub(super) fn goes_on(done: i64, limit: i64) -> bool {
    limit == 0 || done < limit
}
