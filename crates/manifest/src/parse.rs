//! Parses a text into its single document.

use std::fmt::Write as _;

use stoker_diagnostics::{Diagnostic, DiagnosticNote, Severity, has_errors};
use stoker_yaml::{LoadLimits, Loaded, Node, Span, json, load};

use crate::codes;
use crate::expression::KEY as EXPRESSION_KEY;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

/// Strictness and limits of parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// Whether a duplicate key in YAML is an error. In JSON, it always is.
    pub strict_keys: bool,
    pub limits: LoadLimits,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { strict_keys: true, limits: LoadLimits::default() }
    }
}

/// The result of parsing, possibly partial.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Present despite errors if the syntax is valid, so that its form can be checked too.
    pub node: Option<Node>,
    pub problems: Vec<Diagnostic>,
}

impl Parsed {
    pub fn has_errors(&self) -> bool {
        self.node.is_none() || has_errors(&self.problems)
    }
}

/// Returns the single document of a text; fails with all problems.
pub fn parse(text: &str, format: Format) -> Result<Node, Vec<Diagnostic>> {
    match parse_with(text, format, &ParseOptions::default()) {
        Parsed { node: Some(node), problems } if !has_errors(&problems) => Ok(node),
        parsed => Err(parsed.problems),
    }
}

/// Returns the single document of a text, and all problems with it.
pub fn parse_with(text: &str, format: Format, options: &ParseOptions) -> Parsed {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Parsed { node: None, problems: vec![empty()] };
    }
    let loaded = match format {
        Format::Json => json::load(text, &options.limits),
        Format::Yaml => load(text, &options.limits),
    };
    let Loaded { documents, problems, n_problems_dropped } = loaded;
    let mut problems: Vec<Diagnostic> =
        problems.into_iter().map(|problem| from_loader(problem, text, options.strict_keys)).collect();
    problems.extend(Diagnostic::of_dropped(n_problems_dropped, &problems));
    let mut documents = documents.into_iter();
    let node = documents.next().map(|document| document.root);
    for extra in documents {
        let message = "expected a single document, but this is another one";
        let problem = Diagnostic::error(codes::DOCUMENTS, message).at(extra.root.span);
        problems.push(problem.help("remove the `---` before it, or send it separately"));
    }
    if node.is_none() && !has_errors(&problems) {
        problems.push(empty());
    }
    Parsed { node, problems }
}

/// Returns the message that Fuel clients expect.
fn empty() -> Diagnostic {
    Diagnostic::error(codes::EMPTY, "Empty request received")
}

/// Adapts a diagnostic of a loader. With `strict_keys` a duplicate key is an error. The message includes the related
/// location, because an error item of the REST API has only one.
fn from_loader(mut problem: Diagnostic, text: &str, strict_keys: bool) -> Diagnostic {
    if problem.code == stoker_yaml::codes::SYNTAX
        && let Some(key) = problem.location.span.and_then(|span| key_of_inline_expression(text, span))
    {
        problem.set_help(format!("write an expression as `{key}: {{yaql_exp: \"…\"}}`"));
    }
    if problem.code == stoker_yaml::codes::DUPLICATE_KEY && strict_keys {
        problem.severity = Severity::Error;
        problem.message = problem.message.trim_end_matches("; the last one wins").to_owned();
    }
    for DiagnosticNote { message, span, .. } in std::mem::take(&mut problem.notes) {
        let start = span.unwrap_or_default().start;
        _ = write!(problem.message, "; {message}: line {}, column {}", start.line, start.column);
    }
    problem
}

/// The key of an expression that starts on the line of its key, as in `condition: yaql_exp: …`. This is not YAML.
fn key_of_inline_expression(text: &str, span: Span) -> Option<&str> {
    let line = text.lines().nth(span.start.line.checked_sub(1)? as usize)?;
    let (before, _) = line.split_once(&format!(": {EXPRESSION_KEY}:"))?;
    before.rsplit([' ', '{', ',']).next().filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str, format: Format) -> Vec<String> {
        parse(text, format).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn single_document_is_parsed() {
        assert!(parse("{\"a\": 1}", Format::Json).is_ok());
        assert!(parse("a: 1", Format::Yaml).is_ok());
        assert!(parse("null", Format::Json).is_ok(), "null is a document");
        assert!(parse("---\na: 1\n...\n", Format::Yaml).is_ok());
    }

    #[test]
    fn empty_text_is_rejected() {
        for text in ["", "  \n", "\u{feff}"] {
            for format in [Format::Json, Format::Yaml] {
                assert_eq!(problems(text, format), ["Empty request received"]);
            }
        }
        assert_eq!(problems("# nothing\n", Format::Yaml), ["Empty request received"]);
    }

    #[test]
    fn several_documents_are_rejected() {
        assert_eq!(
            problems("a: 1\n---\nb: 2\n", Format::Yaml),
            [
                "expected a single document, but this is another one (line 3, column 1; remove the `---` before it, or send it separately)"
            ]
        );
    }

    #[test]
    fn duplicate_keys_are_errors_unless_lenient() {
        let text = "a: 1\na: 2\n";
        let expected = "key `a` is given twice; first given here: line 1, column 1 (line 2, column 1; remove one of them)";
        assert_eq!(problems(text, Format::Yaml), [expected]);
        assert_eq!(
            problems("{\"a\": 1, \"a\": 2}", Format::Json),
            [
                "key `a` is given twice; first given here: line 1, column 2 (line 1, column 10; remove one of them)"
            ]
        );
        let parsed =
            parse_with(text, Format::Yaml, &ParseOptions { strict_keys: false, ..ParseOptions::default() });
        assert!(!parsed.has_errors());
        assert_eq!(parsed.problems[0].severity, Severity::Warning);
        assert_eq!(
            parsed.problems[0].message,
            "key `a` is given twice; the last one wins; first given here: line 1, column 1"
        );
    }

    #[test]
    fn expression_on_the_line_of_its_key_is_explained() {
        for (text, key, line) in [
            ("- id: a\n  condition: yaql_exp: {changed($.x)}\n", "condition", 2),
            ("- id: a\n  condition: yaql_exp: 'changed($.x)'\n", "condition", 2),
            ("- {id: a, condition: yaql_exp: {changed($.x)}}\n", "condition", 1),
            ("- id: a\n  parameters:\n    amount: yaql_exp: $.x\n", "amount", 3),
        ] {
            let messages = problems(text, Format::Yaml);
            let help = format!("write an expression as `{key}: {{yaql_exp: \"…\"}}`");
            assert!(messages[0].contains(&help), "{messages:?}");
            assert!(messages[0].contains(&format!("line {line},")), "{messages:?}");
        }
        assert!(!problems("a: b: c\n", Format::Yaml)[0].contains("yaql_exp"));
    }

    #[test]
    fn syntax_errors_are_reported_with_location() {
        let messages = problems("{\"a\": 1,}", Format::Json);
        assert!(messages[0].contains("(line 1, column 9; remove the comma before it)"), "{messages:?}");
        assert_eq!(parse_with("[", Format::Json, &ParseOptions::default()).node, None);
    }
}
