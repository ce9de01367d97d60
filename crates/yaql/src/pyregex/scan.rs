//! Iteration over all matches, splitting and replacing.

use super::exec::{Detail, Match, Regex, ScanState, StepBudget};
use super::template::Template;
use crate::error::Result;

impl Regex {
    /// Returns the next match. Matches do not overlap. An empty match may directly follow a longer one, but
    /// no two matches end at the same position. A state must be used with one pattern and one text only.
    pub fn search_from(&self, text: &str, state: &mut ScanState) -> Result<Option<Match>> {
        self.next_match(text, state, Detail::Groups)
    }

    fn next_match(&self, text: &str, state: &mut ScanState, detail: Detail) -> Result<Option<Match>> {
        if state.done {
            return Ok(None);
        }
        let route = *state.route.get_or_insert_with(|| self.route(text));
        // Stays set if the search fails, which ends the iteration.
        state.done = true;
        let matched = self.find(text, route, state.at, state.must_advance, detail, &mut state.work)?;
        if let Some(matched) = &matched {
            let (start, end) = matched.span();
            state.done = false;
            state.must_advance = start == end;
            state.at = end;
        }
        Ok(matched)
    }

    /// Iterates over all matches.
    pub fn find_iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Result<Match>> + 'a {
        let mut state = ScanState::default();
        std::iter::from_fn(move || self.search_from(text, &mut state).transpose())
    }

    /// Splits text at matches and includes the groups of each match. Makes at most `max_split` splits; 0
    /// means no limit, a negative number no splits.
    pub fn split(&self, text: &str, max_split: i64) -> Result<Vec<Option<String>>> {
        let part = |start: usize, end: usize| text.get(start..end).map(str::to_owned);
        let mut out = Vec::new();
        let mut state = ScanState::default();
        let mut last = 0;
        let mut count = 0;
        while max_split == 0 || count < max_split {
            let Some(matched) = self.next_match(text, &mut state, Detail::Groups)? else { break };
            out.push(part(last, matched.start()));
            out.extend((1..=self.group_count()).map(|group| matched.text(group, text).map(str::to_owned)));
            last = matched.end();
            count += 1;
        }
        out.push(part(last, text.len()));
        Ok(out)
    }

    /// Replaces at most `count` matches by a template; 0 means all, a negative number none.
    pub fn replace(&self, text: &str, template: &Template, count: i64) -> Result<String> {
        self.replace_counted(text, template, count, &mut StepBudget::default())
    }

    /// Like [`Self::replace`], with a cost budget.
    pub fn replace_counted(
        &self,
        text: &str,
        template: &Template,
        count: i64,
        work: &mut StepBudget,
    ) -> Result<String> {
        let detail = if template.uses_groups() { Detail::Groups } else { Detail::Span };
        self.replace_each(text, count, work, detail, &mut |matched, out| {
            template.expand(matched, text, out);
            Ok(())
        })
    }

    /// Replaces at most `count` matches by the results of a function; 0 means all, a negative number none.
    pub fn replace_with(
        &self,
        text: &str,
        count: i64,
        replacement: &mut dyn FnMut(&Match) -> Result<String>,
    ) -> Result<String> {
        self.replace_each(text, count, &mut StepBudget::default(), Detail::Groups, &mut |matched, out| {
            out.push_str(&replacement(matched)?);
            Ok(())
        })
    }

    fn replace_each(
        &self,
        text: &str,
        count: i64,
        work: &mut StepBudget,
        detail: Detail,
        replacement: &mut dyn FnMut(&Match, &mut String) -> Result<()>,
    ) -> Result<String> {
        let mut out = String::with_capacity(text.len());
        let mut state = ScanState { work: *work, ..ScanState::default() };
        let mut last = 0;
        let mut done = 0;
        while count == 0 || done < count {
            let matched = self.next_match(text, &mut state, detail);
            *work = state.work;
            let Some(matched) = matched? else { break };
            out.push_str(text.get(last..matched.start()).unwrap_or_default());
            replacement(&matched, &mut out)?;
            last = matched.end();
            done += 1;
        }
        out.push_str(text.get(last..).unwrap_or_default());
        Ok(out)
    }
}
