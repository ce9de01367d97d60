//! A bounded list of diagnostics, with the current path in the document.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, sort};
use crate::quote::{CHARS_MAX, truncated};
use crate::span::Span;

/// Stable codes of the collector.
pub mod codes {
    /// There are more problems than are listed.
    pub const TOO_MANY: &str = "manifest-too-many";
}

/// Collects diagnostics during reading, and tracks the current path in the document.
///
/// The list is bounded, because a million invalid items are usually one mistake repeated a million times.
/// Errors displace warnings, so that many warnings cannot hide an error.
#[derive(Debug)]
pub struct Diagnostics {
    errors: Vec<Diagnostic>,
    /// Warnings and notes.
    others: Vec<Diagnostic>,
    /// Holds a diagnostic that is only counted, so that `insert` can return a reference.
    unlisted: Option<Box<Diagnostic>>,
    n_errors: usize,
    n_dropped: usize,
    n_suggestions: usize,
    listed_max: usize,
    path: Vec<Segment>,
}

#[derive(Clone, Debug)]
enum Segment {
    Key(Arc<str>),
    Index(usize),
}

/// A point in the list, for [`Diagnostics::prefix_since`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    n_errors: usize,
    n_others: usize,
}

/// Default maximum number of listed diagnostics; further ones are only counted.
const LISTED_MAX: usize = 200;

/// Maximum number of suggestions. Each suggestion compares a word with all known words.
const SUGGESTIONS_MAX: usize = 2000;

impl Default for Diagnostics {
    fn default() -> Self {
        Self::bounded(LISTED_MAX)
    }
}

impl Diagnostics {
    /// Creates a list of at most `listed_max` diagnostics. The maximum is at least one, because an error that
    /// is not listed would look like success.
    pub fn bounded(listed_max: usize) -> Self {
        Self {
            errors: Vec::new(),
            others: Vec::new(),
            unlisted: None,
            n_errors: 0,
            n_dropped: 0,
            n_suggestions: 0,
            listed_max: listed_max.max(1),
            path: Vec::new(),
        }
    }

    /// Continues after the diagnostics of a loader, which are all listed.
    pub fn after(diagnostics: Vec<Diagnostic>) -> Self {
        let (errors, others): (Vec<_>, Vec<_>) = diagnostics.into_iter().partition(Diagnostic::is_error);
        Self { n_errors: errors.len(), errors, others, ..Self::default() }
    }

    /// Records an error at the current path.
    pub fn error(
        &mut self,
        code: impl Into<Cow<'static, str>>,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.insert(Diagnostic::error(code, message).at(span))
    }

    /// Records a warning at the current path.
    pub fn warning(
        &mut self,
        code: impl Into<Cow<'static, str>>,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.insert(Diagnostic::warning(code, message).at(span))
    }

    /// Records a diagnostic. A diagnostic without a path gets the current path.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.insert(diagnostic);
    }

    fn insert(&mut self, mut diagnostic: Diagnostic) -> &mut Diagnostic {
        let is_error = diagnostic.is_error();
        self.n_errors += usize::from(is_error);
        if !self.has_room(diagnostic.severity) {
            self.n_dropped += 1;
            return self.unlisted.insert(Box::new(diagnostic));
        }
        if diagnostic.location.path.is_empty() {
            diagnostic.location.path = self.path();
        }
        if is_error && self.n_listed() >= self.listed_max && self.others.pop().is_some() {
            self.n_dropped += 1;
        }
        let list = if is_error { &mut self.errors } else { &mut self.others };
        list.push(diagnostic);
        let last = list.len() - 1;
        &mut list[last]
    }

    fn n_listed(&self) -> usize {
        self.errors.len() + self.others.len()
    }

    /// Reports whether a further diagnostic of this severity would be listed, so that expensive details can
    /// be skipped.
    pub fn has_room(&self, severity: Severity) -> bool {
        let n_listed = if severity == Severity::Error { self.errors.len() } else { self.n_listed() };
        n_listed < self.listed_max
    }

    /// Runs `read` with the key appended to the current path.
    pub fn in_key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within(Segment::Key(key.into()), read)
    }

    /// Runs `read` with the list index appended to the current path.
    pub fn in_item<T>(&mut self, item_idx: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within(Segment::Index(item_idx), read)
    }

    fn within<T>(&mut self, segment: Segment, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(segment);
        let result = read(self);
        self.path.pop();
        result
    }

    /// Returns the current path, such as `tasks[3].requires[0]`.
    pub fn path(&self) -> String {
        let mut text = String::new();
        for segment in &self.path {
            match segment {
                Segment::Index(item_idx) => _ = write!(text, "[{item_idx}]"),
                Segment::Key(key) if is_plain(key) => {
                    let dot = if text.is_empty() { "" } else { "." };
                    _ = write!(text, "{dot}{key}");
                }
                Segment::Key(key) => _ = write!(text, "[{:?}]", truncated(key)),
            }
        }
        text
    }

    /// Runs an expensive search for a suggestion, unless the limit of suggestions is reached or the
    /// suggestion would not be listed.
    pub fn suggest(&mut self, search: impl FnOnce() -> Option<String>) -> Option<String> {
        self.n_suggestions += 1;
        if self.n_suggestions > SUGGESTIONS_MAX || !self.has_room(Severity::Error) {
            return None;
        }
        search()
    }

    pub fn mark(&self) -> Mark {
        Mark { n_errors: self.errors.len(), n_others: self.others.len() }
    }

    /// Prepends a prefix to all messages recorded since `mark`.
    pub fn prefix_since(&mut self, mark: Mark, prefix: &str) {
        let errors = self.errors.iter_mut().skip(mark.n_errors);
        for diagnostic in errors.chain(self.others.iter_mut().skip(mark.n_others)) {
            diagnostic.message.insert_str(0, prefix);
        }
    }

    /// Returns the number of errors so far, including those not listed.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Returns the listed diagnostics, sorted, and the number of dropped diagnostics.
    pub fn into_parts(self) -> (Vec<Diagnostic>, usize) {
        let mut listed = self.errors;
        listed.extend(self.others);
        sort(&mut listed);
        (listed, self.n_dropped)
    }

    /// Returns all listed diagnostics, sorted. A final diagnostic reports the number of dropped diagnostics.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        let (mut listed, n_dropped) = self.into_parts();
        listed.extend(Diagnostic::of_dropped(n_dropped, &listed));
        listed
    }
}

impl Diagnostic {
    /// Returns a diagnostic with the number of dropped diagnostics. It is an error if an error is listed,
    /// because dropped diagnostics may be errors too.
    pub fn of_dropped(n_dropped: usize, listed: &[Self]) -> Option<Self> {
        let severity = if crate::has_errors(listed) { Severity::Error } else { Severity::Warning };
        let message = format!("{n_dropped} more problems are not shown");
        (n_dropped > 0).then(|| Self::error(codes::TOO_MANY, message).severity(severity))
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= CHARS_MAX
        && key.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(diagnostics: Diagnostics) -> Vec<String> {
        diagnostics.into_vec().into_iter().map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn paths_are_human_readable() {
        let mut diagnostics = Diagnostics::default();
        let path = diagnostics.in_key("tasks", |diagnostics| {
            diagnostics.in_item(3, |diagnostics| {
                diagnostics.in_key("cross-depends", |diagnostics| {
                    diagnostics.in_key("a b", |diagnostics| diagnostics.path())
                })
            })
        });
        assert_eq!(path, "tasks[3].cross-depends[\"a b\"]");
        assert_eq!(diagnostics.path(), "");
        let path =
            diagnostics.in_item(0, |diagnostics| diagnostics.in_key("id", |diagnostics| diagnostics.path()));
        assert_eq!(path, "[0].id");
    }

    #[test]
    fn excess_diagnostics_are_counted() {
        let mut diagnostics = Diagnostics::default();
        for _ in 0..1000 {
            diagnostics.error("x", Span::default(), "wrong").set_help("fix it");
        }
        assert_eq!(diagnostics.n_errors(), 1000);
        let listed = diagnostics.into_vec();
        assert_eq!(listed.len(), LISTED_MAX + 1);
        assert_eq!(listed[LISTED_MAX].message, "800 more problems are not shown");
        assert!(listed[LISTED_MAX].is_error());
    }

    #[test]
    fn flood_of_warnings_hides_no_error() {
        let mut diagnostics = Diagnostics::bounded(3);
        for number in 0..10 {
            diagnostics.warning("x", Span::default(), format!("warning {number}"));
        }
        assert!(!diagnostics.has_room(Severity::Warning) && diagnostics.has_room(Severity::Error));
        let only_warnings = diagnostics.into_vec();
        assert!(only_warnings.iter().all(|diagnostic| diagnostic.severity == Severity::Warning));
        let mut diagnostics = Diagnostics::after(only_warnings.into_iter().take(3).collect());
        diagnostics.listed_max = 3;
        for number in 0..4 {
            diagnostics.error("x", Span::default(), format!("error {number}"));
        }
        assert_eq!(messages(diagnostics), ["error 0", "error 1", "error 2", "4 more problems are not shown"]);
    }

    #[test]
    fn prefix_applies_to_later_messages() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.error("x", Span::default(), "first");
        let mark = diagnostics.mark();
        diagnostics.warning("x", Span::default(), "second");
        diagnostics.error("x", Span::default(), "third");
        diagnostics.prefix_since(mark, "task: ");
        assert_eq!(messages(diagnostics), ["first", "task: third", "task: second"]);
    }

    #[test]
    fn suggestions_are_bounded() {
        let mut diagnostics = Diagnostics::default();
        let n_found = (0..3 * SUGGESTIONS_MAX)
            .filter(|_| diagnostics.suggest(|| Some(String::new())).is_some())
            .count();
        assert_eq!(n_found, SUGGESTIONS_MAX);
        let mut full = Diagnostics::bounded(1);
        full.error("x", Span::default(), "wrong");
        assert_eq!(full.suggest(|| Some("late".to_owned())), None);
    }
}
