//! All matches of a text: iteration, splitting, replacing.

use super::exec::{Match, Regex, ScanState, Want, Work};
use super::template::Template;
use crate::error::Result;

impl Regex {
    /// The next match of a sequence. Matches do not overlap; an empty one may touch a longer one
    /// before it, but no two end at the same place. The state belongs to one pattern and one text.
    pub fn search_from(&self, text: &str, state: &mut ScanState) -> Result<Option<Match>> {
        self.next_match(text, state, Want::Groups)
    }

    fn next_match(&self, text: &str, state: &mut ScanState, want: Want) -> Result<Option<Match>> {
        if state.done {
            return Ok(None);
        }
        let route = *state.route.get_or_insert_with(|| self.route(text));
        // An error ends the sequence too.
        state.done = true;
        let found = self.find(text, route, state.at, state.must_advance, want, &mut state.work)?;
        if let Some(found) = &found {
            let (start, end) = found.span();
            state.done = false;
            state.must_advance = start == end;
            state.at = end;
        }
        Ok(found)
    }

    /// All matches, in order.
    pub fn find_iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Result<Match>> + 'a {
        let mut state = ScanState::default();
        std::iter::from_fn(move || self.search_from(text, &mut state).transpose())
    }

    /// The parts between matches, with the groups of each match among them. No more than `max_split`
    /// splits; 0 means no limit, a negative number none at all.
    pub fn split(&self, text: &str, max_split: i64) -> Result<Vec<Option<String>>> {
        let part = |start: usize, end: usize| text.get(start..end).map(str::to_owned);
        let mut out = Vec::new();
        let mut state = ScanState::default();
        let mut last = 0;
        let mut count = 0;
        while max_split == 0 || count < max_split {
            let Some(found) = self.next_match(text, &mut state, Want::Groups)? else { break };
            out.push(part(last, found.start()));
            out.extend((1..=self.group_count()).map(|group| found.text(group, text).map(str::to_owned)));
            last = found.end();
            count += 1;
        }
        out.push(part(last, text.len()));
        Ok(out)
    }

    /// Replaces matches by a template, at most `count` of them; 0 means all, a negative number none.
    pub fn replace(&self, text: &str, template: &Template, count: i64) -> Result<String> {
        self.replace_counted(text, template, count, &mut Work::default())
    }

    /// The same, with an account of the work.
    pub fn replace_counted(
        &self,
        text: &str,
        template: &Template,
        count: i64,
        work: &mut Work,
    ) -> Result<String> {
        let want = if template.uses_groups() { Want::Groups } else { Want::Span };
        self.replace_each(text, (count, work), want, &mut |found, out| {
            template.expand(found, text, out);
            Ok(())
        })
    }

    /// Replaces matches by what a function says, at most `count` of them; 0 means all, a negative
    /// number none.
    pub fn replace_with(
        &self,
        text: &str,
        count: i64,
        replacement: &mut dyn FnMut(&Match) -> Result<String>,
    ) -> Result<String> {
        self.replace_each(text, (count, &mut Work::default()), Want::Groups, &mut |found, out| {
            out.push_str(&replacement(found)?);
            Ok(())
        })
    }

    fn replace_each(
        &self,
        text: &str,
        (count, work): (i64, &mut Work),
        want: Want,
        replacement: &mut dyn FnMut(&Match, &mut String) -> Result<()>,
    ) -> Result<String> {
        let mut out = String::with_capacity(text.len());
        let mut state = ScanState { work: *work, ..ScanState::default() };
        let mut last = 0;
        let mut done = 0;
        while count == 0 || done < count {
            let found = self.next_match(text, &mut state, want);
            *work = state.work;
            let Some(found) = found? else { break };
            out.push_str(text.get(last..found.start()).unwrap_or_default());
            replacement(&found, &mut out)?;
            last = found.end();
            done += 1;
        }
        out.push_str(text.get(last..).unwrap_or_default());
        Ok(out)
    }
}
