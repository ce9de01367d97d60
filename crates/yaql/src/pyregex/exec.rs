//! Compiled patterns, and searches with them.

use super::ast::flag;
use super::emit::{self, Empty, Traits};
use super::ir::{self, Ir};
use super::machine::{Machine, too_many_steps};
use super::parse;
use super::program::{self, Program};
use super::text::quote;
use crate::error::Result;
use indexmap::IndexMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// Compilation flags of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "independent flags of the language")]
pub struct Flags {
    pub ignore_case: bool,
    pub multi_line: bool,
    pub dot_all: bool,
    /// Whether Unicode is requested explicitly, which makes a global `(?a)` in the pattern an error.
    pub unicode: bool,
}

impl Flags {
    fn bits(self) -> u32 {
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        bit(self.ignore_case, flag::IGNORECASE)
            | bit(self.multi_line, flag::MULTILINE)
            | bit(self.dot_all, flag::DOTALL)
            | bit(self.unicode, flag::UNICODE)
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Regex {
    pattern: String,
    flags: u32,
    groups: usize,
    names: IndexMap<String, u32>,
    ir: Ir,
    traits: Traits,
    /// Number of character positions with all repeats unrolled; the worst-case cost per byte of text in the
    /// linear-time engine.
    weight: u64,
    /// The engines, built on first use; `None` if the automaton would exceed the size limit.
    ascii: OnceLock<Option<regex::Regex>>,
    unicode: OnceLock<Option<regex::Regex>>,
    program: OnceLock<Program>,
}

/// A match: byte ranges of the whole match and of the groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    groups: SmallVec<[Option<(usize, usize)>; 4]>,
}

impl Match {
    fn whole(start: usize, end: usize) -> Self {
        Self { groups: SmallVec::from_iter([Some((start, end))]) }
    }

    pub fn start(&self) -> usize {
        self.span().0
    }

    pub fn end(&self) -> usize {
        self.span().1
    }

    /// Returns the byte range of the whole match.
    pub fn span(&self) -> (usize, usize) {
        self.get(0).unwrap_or_default()
    }

    /// Returns the byte range of a group, where 0 is the whole match; `None` if the group did not
    /// participate.
    pub fn get(&self, group: usize) -> Option<(usize, usize)> {
        self.groups.get(group).copied().flatten()
    }

    /// Returns all groups, the whole match first.
    pub fn groups(&self) -> &[Option<(usize, usize)>] {
        &self.groups
    }

    /// Returns the text of a group, given the text that was searched.
    pub fn text<'t>(&self, group: usize, text: &'t str) -> Option<&'t str> {
        let (start, end) = self.get(group)?;
        text.get(start..end)
    }
}

/// The engine chosen for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Ascii,
    Unicode,
    Backtrack,
}

/// The state of an iteration over the matches in one text.
#[derive(Clone, Debug, Default)]
pub struct ScanState {
    pub(super) at: usize,
    pub(super) must_advance: bool,
    pub(super) done: bool,
    pub(super) route: Option<Route>,
    pub work: StepBudget,
}

/// Budget and cost of searches, in evaluation steps.
#[derive(Clone, Copy, Debug)]
pub struct StepBudget {
    pub allowed: u64,
    pub spent: u64,
}

impl Default for StepBudget {
    fn default() -> Self {
        Self { allowed: u64::MAX, spent: 0 }
    }
}

impl StepBudget {
    pub fn new(allowed: u64) -> Self {
        Self { allowed, spent: 0 }
    }

    pub(super) fn remaining(&self) -> u64 {
        self.allowed.saturating_sub(self.spent)
    }
}

/// Part of a match that a search returns: all groups, or only the span.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Span,
    Groups,
}

/// Stack required to compile a pattern of maximum depth.
const STACK: usize = 1 << 20;
/// Maximum size of an automaton of the linear-time engine, in bytes.
const SIZE_LIMIT: usize = 1 << 21;
/// Weight up to which the linear-time engine costs no extra steps.
const SMALL_WEIGHT: u64 = 100;
/// Maximum cost of one search with the linear-time engine, in evaluation steps.
const LINEAR_WORK_MAX: u64 = 50_000_000;
/// Number of steps of the backtracking engine per evaluation step.
const BACKTRACK_STEPS: u64 = 4;

impl Regex {
    pub fn new(pattern: &str, flags: Flags) -> Result<Self> {
        stacker::maybe_grow(STACK, 2 * STACK, || Self::build(pattern, flags.bits()))
    }

    fn build(pattern: &str, flags: u32) -> Result<Self> {
        let parsed = parse::parse(pattern, flags)?;
        let ir = ir::lower(&parsed.body, parsed.flags)?;
        Ok(Self {
            pattern: pattern.to_owned(),
            flags: parsed.flags,
            groups: parsed.groups,
            names: parsed.names,
            traits: emit::traits(&ir),
            weight: ir.weight(),
            ir,
            ascii: OnceLock::new(),
            unicode: OnceLock::new(),
            program: OnceLock::new(),
        })
    }

    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the effective flags: those passed and those set at the start of the pattern.
    pub fn flags(&self) -> Flags {
        Flags {
            ignore_case: self.flags & flag::IGNORECASE != 0,
            multi_line: self.flags & flag::MULTILINE != 0,
            dot_all: self.flags & flag::DOTALL != 0,
            unicode: self.flags & flag::UNICODE != 0,
        }
    }

    /// Returns the number of groups, not counting the whole match.
    pub fn group_count(&self) -> usize {
        self.groups
    }

    /// Returns the named groups with their numbers, in pattern order.
    pub fn group_names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.names.iter().map(|(name, &index)| (name.as_str(), index as usize))
    }

    pub(super) fn group_named(&self, name: &str) -> Option<usize> {
        self.names.get(name).map(|&index| index as usize)
    }

    /// Reports whether the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        self.is_match_counted(text, &mut StepBudget::default())
    }

    /// Like [`Self::is_match`], with a cost budget.
    pub fn is_match_counted(&self, text: &str, work: &mut StepBudget) -> Result<bool> {
        let route = self.route(text);
        if let Some(engine) = self.linear(route) {
            work.spent += self.linear_work(text.len(), work)?;
            return Ok(engine.is_match(text));
        }
        Ok(self.backtrack(text, 0, false, Detail::Span, work)?.is_some())
    }

    /// Returns the first match.
    pub fn search(&self, text: &str) -> Result<Option<Match>> {
        self.search_from(text, &mut ScanState::default())
    }

    /// Returns the cost of searching `bytes` bytes with the linear-time engine, or an error if it exceeds the
    /// budget. The cost is zero for patterns of ordinary size; a large automaton may visit all its states for
    /// each byte.
    fn linear_work(&self, bytes: usize, work: &StepBudget) -> Result<u64> {
        let cost = (bytes as u64).saturating_mul(self.weight.saturating_sub(SMALL_WEIGHT) / 4);
        if cost > LINEAR_WORK_MAX.min(work.remaining()) { too_many_steps() } else { Ok(cost) }
    }

    /// Chooses the engine for a text. An iteration over matches calls this once.
    pub(super) fn route(&self, text: &str) -> Route {
        let traits = &self.traits;
        if !traits.regular
            || (traits.end_line && text.ends_with('\n'))
            || (traits.boundary && text.is_empty())
        {
            Route::Backtrack
        } else if text.is_ascii() {
            Route::Ascii
        } else if traits.boundary {
            Route::Backtrack
        } else {
            Route::Unicode
        }
    }

    fn linear(&self, route: Route) -> Option<&regex::Regex> {
        match route {
            Route::Ascii => self.ascii.get_or_init(|| self.build_linear(true)).as_ref(),
            Route::Unicode => self.unicode.get_or_init(|| self.build_linear(false)).as_ref(),
            Route::Backtrack => None,
        }
    }

    fn build_linear(&self, ascii: bool) -> Option<regex::Regex> {
        let build = || {
            let pattern = emit::emit(&self.ir, ascii);
            regex::RegexBuilder::new(&pattern).size_limit(SIZE_LIMIT).nest_limit(10_000).build().ok()
        };
        let engine = stacker::maybe_grow(STACK, 2 * STACK, build)?;
        (engine.captures_len() == self.groups + 1).then_some(engine)
    }

    /// Returns the first match at or after `at`; with `must_advance`, not an empty match at `at`.
    pub(super) fn find(
        &self,
        text: &str,
        route: Route,
        at: usize,
        must_advance: bool,
        detail: Detail,
        work: &mut StepBudget,
    ) -> Result<Option<Match>> {
        if !text.is_char_boundary(at) {
            return Ok(None);
        }
        let ambiguous = must_advance && self.traits.empty == Empty::Any;
        let engine = if ambiguous { None } else { self.linear(route) };
        let Some(engine) = engine else { return self.backtrack(text, at, must_advance, detail, work) };
        self.linear_work(text.len() - at, work)?;
        let mut from = at;
        if must_advance && self.traits.empty == Empty::Last {
            // The empty match was the last alternative at `at`, so there is no other match at this position.
            let Some(ch) = text.get(at..).and_then(|rest| rest.chars().next()) else { return Ok(None) };
            from += ch.len_utf8();
        }
        let mut count = |matched: Option<regex::Match<'_>>| {
            let end = matched.map_or(text.len(), |matched| matched.end());
            work.spent += self.linear_work(end - at, work).unwrap_or(0);
        };
        if detail == Detail::Span || self.groups == 0 {
            let matched = engine.find_at(text, from);
            count(matched);
            return Ok(matched.map(|matched| Match::whole(matched.start(), matched.end())));
        }
        let mut locations = engine.capture_locations();
        let matched = engine.captures_read_at(&mut locations, text, from);
        count(matched);
        Ok(matched.map(|_| Match { groups: (0..=self.groups).map(|group| locations.get(group)).collect() }))
    }

    fn backtrack(
        &self,
        text: &str,
        at: usize,
        must_advance: bool,
        detail: Detail,
        work: &mut StepBudget,
    ) -> Result<Option<Match>> {
        let program =
            self.program.get_or_init(|| stacker::maybe_grow(STACK, 2 * STACK, || program::compile(&self.ir)));
        let steps = work.remaining().saturating_mul(BACKTRACK_STEPS);
        let mut machine = Machine::new(program, text, self.groups, steps);
        let matched = machine.search(at, must_advance);
        work.spent += machine.spent() / BACKTRACK_STEPS;
        let Some((start, end)) = matched? else { return Ok(None) };
        let mut matched = Match::whole(start, end);
        if detail == Detail::Groups {
            matched.groups.extend((1..=self.groups).map(|group| machine.group(group)));
        }
        Ok(Some(matched))
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.flags == other.flags && self.pattern == other.pattern
    }
}

impl Eq for Regex {}

impl Hash for Regex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pattern.hash(state);
        self.flags.hash(state);
    }
}

const FLAG_NAMES: &[(u32, &str)] = &[
    (flag::TEMPLATE, "re.TEMPLATE"),
    (flag::IGNORECASE, "re.IGNORECASE"),
    (flag::MULTILINE, "re.MULTILINE"),
    (flag::DOTALL, "re.DOTALL"),
    (flag::VERBOSE, "re.VERBOSE"),
    (flag::ASCII, "re.ASCII"),
];

/// Formats a pattern like Python: `re.compile('a.c', re.IGNORECASE)`.
pub fn python_repr(regex: &Regex) -> String {
    let quoted: String = quote(&regex.pattern).chars().take(200).collect();
    let names = FLAG_NAMES.iter().filter(|(bit, _)| regex.flags & bit != 0).map(|(_, name)| *name);
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return format!("re.compile({quoted})");
    }
    format!("re.compile({quoted}, {})", names.join("|"))
}
