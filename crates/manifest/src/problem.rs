//! Problems with a text, as data without rendering.

use std::fmt::{self, Write as _};
use std::sync::Arc;

pub use stoker_yaml::Severity;
use stoker_yaml::Span;
use stoker_yaql::eval::suggest::closest_name;

/// Stable names of problems. Those of the syntax are in [`stoker_yaml::codes`] and
/// [`stoker_yaml::json::codes`].
pub mod codes {
    /// An empty text.
    pub const EMPTY: &str = "manifest-empty";
    /// More than one document.
    pub const DOCUMENTS: &str = "manifest-documents";
    /// A value of the wrong type, such as text where a list is expected.
    pub const TYPE: &str = "manifest-kind";
    /// A required key is missing.
    pub const MISSING: &str = "manifest-missing-key";
    /// An unknown key.
    pub const UNKNOWN_KEY: &str = "manifest-unknown-key";
    /// A key that is not a string.
    pub const KEY: &str = "manifest-key";
    /// Text or a list that is too long or too short.
    pub const LENGTH: &str = "manifest-length";
    /// A number out of range, or one that JSON cannot represent.
    pub const RANGE: &str = "manifest-range";
    /// A word that is not among the allowed ones.
    pub const CHOICE: &str = "manifest-choice";
    /// A string of the wrong form.
    pub const FORM: &str = "manifest-form";
    /// Two spellings of one field with different values.
    pub const CONFLICT: &str = "manifest-conflict";
    /// Two tasks with the same id.
    pub const DUPLICATE_TASK: &str = "manifest-duplicate-task";
    /// An expression that does not parse or has the wrong form.
    pub const EXPRESSION: &str = "manifest-expression";
    /// A bare word in an expression that is a constant in other languages but a string in YAQL.
    pub const BARE_WORD: &str = "manifest-bare-word";
    /// More problems exist than are listed.
    pub const TOO_MANY: &str = "manifest-too-many";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// Diagnostic code, one of [`codes`] or of the syntax codes.
    pub code: &'static str,
    /// Path in the document, such as `tasks[3].requires[0]`; empty: the whole document.
    pub path: String,
    /// Location in the text.
    pub span: Option<Span>,
    /// Lowercase fragment without a trailing period, about the value at the path.
    pub message: String,
    /// Hint for the author.
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
        let location =
            self.span.map(|span| format!("line {}, column {}", span.start.line, span.start.column));
        match (location, &self.help) {
            (Some(location), Some(help)) => write!(f, " ({location}; {help})"),
            (Some(location), None) => write!(f, " ({location})"),
            (None, Some(help)) => write!(f, " ({help})"),
            (None, None) => Ok(()),
        }
    }
}

/// Maximum number of problems that a summary lists.
const SUMMARY_MAX: usize = 20;

/// One text for several problems, one per line, errors first.
pub fn summary(problems: &[Problem]) -> String {
    let of = |severity: Severity| problems.iter().filter(move |problem| problem.severity == severity);
    let ordered: Vec<&Problem> = of(Severity::Error).chain(of(Severity::Warning)).collect();
    if let [only] = ordered[..] {
        return only.to_string();
    }
    let mut text = format!("{} problems", ordered.len());
    for problem in ordered.iter().take(SUMMARY_MAX) {
        _ = write!(text, "\n- {problem}");
    }
    if ordered.len() > SUMMARY_MAX {
        _ = write!(text, "\n- and {} more", ordered.len() - SUMMARY_MAX);
    }
    text
}

/// Converts a problem of a loader. With `strict_keys` a duplicate key is an error.
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

/// Collects problems during reading, and tracks the current path in the document.
///
/// The list is bounded: a list of a million invalid items is one mistake repeated a million times.
#[derive(Debug, Default)]
pub struct Problems {
    listed: Vec<Problem>,
    /// Holds a problem that is only counted, so that `push` can return a reference.
    unlisted: Option<Problem>,
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

/// Maximum number of listed problems; further ones are only counted.
const LISTED_MAX: usize = 200;

/// Maximum number of suggestions. Each compares a word with all known words.
const SUGGESTIONS_MAX: usize = 2000;

impl Problems {
    /// Continues after the problems of a loader.
    pub fn after(problems: Vec<Problem>) -> Self {
        let n_errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        Self { listed: problems, n_errors, ..Self::default() }
    }

    /// Records an error at the current path.
    pub fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Problem {
        self.push(Severity::Error, code, Some(span), message.into())
    }

    /// Records a warning at the current path.
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
            return self.unlisted.insert(problem);
        }
        self.listed.push(problem);
        let last = self.listed.len() - 1;
        &mut self.listed[last]
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

    /// Whether further problems are only counted, so that expensive details can be skipped.
    pub(crate) fn is_full(&self) -> bool {
        self.listed.len() >= LISTED_MAX
    }

    /// A suggestion for an unknown word, if a known one is similar and the limit of suggestions is not
    /// reached.
    pub(crate) fn did_you_mean<'a>(
        &mut self,
        word: &str,
        known_words: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        self.n_suggestions += 1;
        if self.is_full() || self.n_suggestions > SUGGESTIONS_MAX {
            return None;
        }
        closest_name(word, known_words).map(|best| format!("did you mean `{best}`?"))
    }

    /// Number of listed problems, for [`Problems::introduce`].
    pub(crate) fn mark(&self) -> usize {
        self.listed.len()
    }

    /// Prepends a prefix to all messages recorded since `mark`.
    pub(crate) fn introduce(&mut self, mark: usize, prefix: &str) {
        for problem in self.listed.iter_mut().skip(mark) {
            problem.message.insert_str(0, prefix);
        }
    }

    /// The current path, such as `tasks[3].requires[0]`.
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

    /// Number of errors so far, including those not listed.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// All problems in text order.
    pub fn into_vec(mut self) -> Vec<Problem> {
        self.listed.sort_by_key(|problem| problem.span.map(|span| span.start.offset));
        if self.n_dropped > 0 {
            let message = format!("{} more problems are not shown", self.n_dropped);
            let (severity, code, path) = (Severity::Error, codes::TOO_MANY, String::new());
            self.listed.push(Problem { severity, code, path, span: None, message, help: None });
        }
        self.listed
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

/// A user's text for a message: truncated, on one line, in backticks.
pub(crate) fn quoted(text: &str) -> String {
    let short = shortened(text);
    let mut escaped = String::with_capacity(short.len() + 2);
    for letter in short.chars() {
        if letter.is_control() { escaped.extend(letter.escape_default()) } else { escaped.push(letter) }
    }
    format!("`{escaped}`")
}

/// A list of choices for a message: `a`, `b` or `c`.
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
        let (code, path, message) = (codes::TYPE, path.to_owned(), message.to_owned());
        Problem { severity, code, path, span: None, message, help: None }
    }

    #[test]
    fn paths_are_human_readable() {
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
    fn summary_lists_errors_first_and_is_bounded() {
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
    fn excess_problems_are_counted() {
        let mut problems = Problems::default();
        for _ in 0..1000 {
            problems.error(codes::TYPE, Span::default(), "wrong").help("fix it".to_owned());
        }
        assert_eq!(problems.n_errors(), 1000);
        let listed = problems.into_vec();
        assert_eq!(listed.len(), LISTED_MAX + 1);
        assert_eq!(listed[LISTED_MAX].message, "800 more problems are not shown");
    }

    #[test]
    fn user_text_is_truncated_and_escaped() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"ä".repeat(61)), format!("`{}…`", "ä".repeat(60)));
        assert_eq!(choices(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
