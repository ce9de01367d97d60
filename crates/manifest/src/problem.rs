//! What is wrong with a text, as data; drawing it is somebody else's job.

use std::fmt::{self, Write as _};
use std::sync::Arc;

pub use stoker_yaml::Severity;
use stoker_yaml::Span;
use stoker_yaql::eval::suggest::closest;

/// Stable names of problems. Those of the syntax are in [`stoker_yaml::codes`] and [`stoker_yaml::json::codes`].
pub mod codes {
    /// Nothing was sent.
    pub const EMPTY: &str = "manifest-empty";
    /// More than one document.
    pub const DOCUMENTS: &str = "manifest-documents";
    /// Something of the wrong kind: text where a list is expected.
    pub const KIND: &str = "manifest-kind";
    /// A key that has to be there.
    pub const MISSING: &str = "manifest-missing-key";
    /// A key that means nothing here.
    pub const UNKNOWN_KEY: &str = "manifest-unknown-key";
    /// A key that is no text.
    pub const KEY: &str = "manifest-key";
    /// Text or a list that is too long or too short.
    pub const LENGTH: &str = "manifest-length";
    /// A number out of its range, or none that can be kept.
    pub const RANGE: &str = "manifest-range";
    /// A word that is none of those allowed.
    pub const CHOICE: &str = "manifest-choice";
    /// Text that has not the form it should have.
    pub const FORM: &str = "manifest-form";
    /// One thing said twice, and differently.
    pub const CONFLICT: &str = "manifest-conflict";
    /// Two tasks with one id.
    pub const DUPLICATE_TASK: &str = "manifest-duplicate-task";
    /// An expression that does not parse, or is not written as one.
    pub const EXPRESSION: &str = "manifest-expression";
    /// A word in an expression that means a constant in other languages and is text there.
    pub const BARE_WORD: &str = "manifest-bare-word";
    /// There are more problems than are shown.
    pub const TOO_MANY: &str = "manifest-too-many";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// One of [`codes`], or of those of the syntax.
    pub code: &'static str,
    /// Where in the document, as in `tasks[3].requires[0]`; empty for the whole of it.
    pub path: String,
    /// Where in the text.
    pub span: Option<Span>,
    /// A lowercase fragment without a full stop, about what the path leads to.
    pub message: String,
    /// What the author can do.
    pub help: Option<String>,
}

impl Problem {
    pub fn help(&mut self, help: impl Into<Option<String>>) {
        self.help = help.into();
    }
}

/// `tasks[3].type: the message (line 12, column 9; the help)`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        let place = self.span.map(|span| format!("line {}, column {}", span.start.line, span.start.column));
        match (place, &self.help) {
            (Some(place), Some(help)) => write!(f, " ({place}; {help})"),
            (Some(place), None) => write!(f, " ({place})"),
            (None, Some(help)) => write!(f, " ({help})"),
            (None, None) => Ok(()),
        }
    }
}

/// How many problems a summary tells in full.
const TOLD_MAX: usize = 20;

/// One text for several problems, errors first, a line each.
pub fn summary(problems: &[Problem]) -> String {
    let of = |severity: Severity| problems.iter().filter(move |problem| problem.severity == severity);
    let ordered: Vec<&Problem> = of(Severity::Error).chain(of(Severity::Warning)).collect();
    if let [only] = ordered[..] {
        return only.to_string();
    }
    let mut text = format!("{} problems", ordered.len());
    for problem in ordered.iter().take(TOLD_MAX) {
        _ = write!(text, "\n- {problem}");
    }
    if ordered.len() > TOLD_MAX {
        _ = write!(text, "\n- and {} more", ordered.len() - TOLD_MAX);
    }
    text
}

/// A problem of a loader as one of the document. With `strict_keys` a key given twice is an error.
pub fn from_loader(problem: stoker_yaml::Problem, strict_keys: bool) -> Problem {
    let is_duplicate = problem.code == stoker_yaml::codes::DUPLICATE_KEY;
    let (severity, mut message) = if is_duplicate && strict_keys {
        (Severity::Error, problem.message.trim_end_matches("; the last one wins").to_owned())
    } else {
        (problem.severity, problem.message)
    };
    if let Some((span, label)) = problem.related {
        _ = write!(message, "; {label}: line {}, column {}", span.start.line, span.start.column);
    }
    let (code, span, help) = (problem.code, Some(problem.span), problem.help);
    Problem { severity, code, path: String::new(), span, message, help }
}

/// Problems as they are found, with the place in the document where the reading is just now.
///
/// Only so many are kept: a list of a million wrong items is one mistake made a million times.
#[derive(Debug, Default)]
pub struct Problems {
    kept: Vec<Problem>,
    /// Where a problem goes that is only counted.
    spare: Option<Problem>,
    n_dropped: usize,
    n_errors: usize,
    n_suggestions: usize,
    path: Vec<Segment>,
}

#[derive(Clone, Debug)]
enum Segment {
    Key(Arc<str>),
    Index(usize),
}

/// Problems kept.
const KEPT_MAX: usize = 200;

/// Words for which another is looked for. It costs a comparison with every known word.
const SUGGESTIONS_MAX: usize = 2000;

impl Problems {
    /// Goes on after what a loader found.
    pub fn after(problems: Vec<Problem>) -> Self {
        let n_errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        Self { kept: problems, n_errors, ..Self::default() }
    }

    /// Notes an error at the current path.
    pub fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Problem {
        self.push(Severity::Error, code, Some(span), message.into())
    }

    /// Notes a warning at the current path.
    pub fn warning(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Problem {
        self.push(Severity::Warning, code, Some(span), message.into())
    }

    pub(crate) fn push(
        &mut self,
        severity: Severity,
        code: &'static str,
        span: Option<Span>,
        message: String,
    ) -> &mut Problem {
        self.n_errors += usize::from(severity == Severity::Error);
        let path = if self.is_full() { String::new() } else { self.path() };
        let problem = Problem { severity, code, path, span, message, help: None };
        if self.is_full() {
            self.n_dropped += 1;
            return self.spare.insert(problem);
        }
        self.kept.push(problem);
        let last = self.kept.len() - 1;
        &mut self.kept[last]
    }

    /// Reads something under a key: what it reports carries the key in its path.
    pub fn in_key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within(Segment::Key(key.into()), read)
    }

    /// Reads an item of a list.
    pub fn in_item<T>(&mut self, item_idx: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within(Segment::Index(item_idx), read)
    }

    fn within<T>(&mut self, segment: Segment, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(segment);
        let result = read(self);
        self.path.pop();
        result
    }

    /// Whether further problems are only counted, so that nobody needs to take pains with them.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= KEPT_MAX
    }

    /// Help for a word that is not known, if another is near and not too many have been asked for.
    pub(crate) fn did_you_mean<'a>(
        &mut self,
        given: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        self.n_suggestions += 1;
        if self.is_full() || self.n_suggestions > SUGGESTIONS_MAX {
            return None;
        }
        closest(given, known).map(|best| format!("did you mean `{best}`?"))
    }

    /// How many problems are kept, to find later which are new.
    pub(crate) fn mark(&self) -> usize {
        self.kept.len()
    }

    /// Puts words in front of every message since `mark`.
    pub(crate) fn introduce(&mut self, mark: usize, words: &str) {
        for problem in self.kept.iter_mut().skip(mark) {
            problem.message.insert_str(0, words);
        }
    }

    /// Where the reading is, as in `tasks[3].requires[0]`.
    pub fn path(&self) -> String {
        let mut text = String::new();
        for segment in &self.path {
            match segment {
                Segment::Index(item_idx) => _ = write!(text, "[{item_idx}]"),
                Segment::Key(key) if is_plain(key) => {
                    let dot = if text.is_empty() { "" } else { "." };
                    _ = write!(text, "{dot}{key}");
                }
                Segment::Key(key) => _ = write!(text, "[{:?}]", shortened(key)),
            }
        }
        text
    }

    /// How many errors there are so far, shown or not.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Everything found, in the order of the text.
    pub fn into_vec(mut self) -> Vec<Problem> {
        self.kept.sort_by_key(|problem| problem.span.map(|span| span.start.offset));
        if self.n_dropped > 0 {
            let message = format!("there are {} more problems", self.n_dropped);
            let (severity, code, path) = (Severity::Error, codes::TOO_MANY, String::new());
            self.kept.push(Problem { severity, code, path, span: None, message, help: None });
        }
        self.kept
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= CHARS_MAX
        && key.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter))
}

const CHARS_MAX: usize = 60;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A user's text for a message: short, on one line, in backticks.
pub(crate) fn quoted(text: &str) -> String {
    let short = shortened(text);
    let mut shown = String::with_capacity(short.len() + 2);
    for letter in short.chars() {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    format!("`{shown}`")
}

/// Words for a closed list: `a`, `b` or `c`.
pub(crate) fn choices(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match &quoted[..] {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(severity: Severity, path: &str, message: &str) -> Problem {
        let (code, path, message) = (codes::KIND, path.to_owned(), message.to_owned());
        Problem { severity, code, path, span: None, message, help: None }
    }

    #[test]
    fn paths_are_written_as_people_write_them() {
        let mut problems = Problems::default();
        let path = problems.in_key("tasks", |problems| {
            problems.in_item(3, |problems| {
                problems
                    .in_key("cross-depends", |problems| problems.in_key("a b", |problems| problems.path()))
            })
        });
        assert_eq!(path, "tasks[3].cross-depends[\"a b\"]");
        assert_eq!(problems.path(), "");
        assert_eq!(
            problems.in_item(0, |problems| problems.in_key("id", |problems| problems.path())),
            "[0].id"
        );
    }

    #[test]
    fn a_summary_tells_errors_first_and_not_too_many() {
        let warning = problem(Severity::Warning, "b", "odd");
        let error = problem(Severity::Error, "a", "wrong");
        assert_eq!(summary(&[]), "0 problems");
        assert_eq!(summary(std::slice::from_ref(&error)), "a: wrong");
        assert_eq!(summary(&[warning, error.clone()]), "2 problems\n- a: wrong\n- b: odd");
        let many = vec![error; 30];
        assert!(summary(&many).ends_with("\n- and 10 more"));
        assert_eq!(summary(&many).lines().count(), 22);
    }

    #[test]
    fn a_flood_is_counted() {
        let mut problems = Problems::default();
        for _ in 0..1000 {
            problems.error(codes::KIND, Span::default(), "wrong").help("mend it".to_owned());
        }
        assert_eq!(problems.n_errors(), 1000);
        let kept = problems.into_vec();
        assert_eq!(kept.len(), KEPT_MAX + 1);
        assert_eq!(kept[KEPT_MAX].message, "there are 800 more problems");
    }

    #[test]
    fn text_of_users_is_shown_short_and_on_one_line() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"ä".repeat(61)), format!("`{}…`", "ä".repeat(60)));
        assert_eq!(choices(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
