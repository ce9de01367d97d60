//! Parses a text into its single document.

use stoker_yaml::{Limits, Loaded, Node, json, load};

use crate::problem::{Problem, Severity, codes, from_loader};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

/// Strictness and limits of parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// Whether a duplicate key in YAML is an error. In JSON it always is.
    pub strict_keys: bool,
    pub limits: Limits,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { strict_keys: true, limits: Limits::default() }
    }
}

/// The result of parsing, possibly partial.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Present despite errors if the syntax is valid, so that its form can be checked too.
    pub node: Option<Node>,
    pub problems: Vec<Problem>,
}

impl Parsed {
    pub fn has_errors(&self) -> bool {
        self.node.is_none() || self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// The single document of a text; fails with all problems.
pub fn parse(text: &str, format: Format) -> Result<Node, Vec<Problem>> {
    match parse_with(text, format, &ParseOptions::default()) {
        Parsed { node: Some(node), problems } if has_no_errors(&problems) => Ok(node),
        parsed => Err(parsed.problems),
    }
}

fn has_no_errors(problems: &[Problem]) -> bool {
    problems.iter().all(|problem| problem.severity != Severity::Error)
}

/// The single document of a text, and all problems with it.
pub fn parse_with(text: &str, format: Format, options: &ParseOptions) -> Parsed {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Parsed { node: None, problems: vec![empty()] };
    }
    let loaded = match format {
        Format::Json => json::load(text, &options.limits),
        Format::Yaml => load(text, &options.limits),
    };
    let Loaded { documents, problems, n_problems_dropped } = loaded;
    let mut problems: Vec<Problem> =
        problems.into_iter().map(|problem| from_loader(problem, options.strict_keys)).collect();
    if n_problems_dropped > 0 {
        let message = format!("{n_problems_dropped} more problems are not shown");
        problems.push(document_problem(codes::TOO_MANY, message));
    }
    let mut documents = documents.into_iter();
    let node = documents.next().map(|document| document.root);
    for extra in documents {
        let mut problem = document_problem(
            codes::DOCUMENTS,
            "expected a single document, but this is another one".to_owned(),
        );
        problem.span = Some(extra.root.span);
        problem.help = Some("remove the `---` before it, or send it separately".to_owned());
        problems.push(problem);
    }
    if node.is_none() && has_no_errors(&problems) {
        problems.push(empty());
    }
    Parsed { node, problems }
}

/// The message that Fuel clients expect.
fn empty() -> Problem {
    document_problem(codes::EMPTY, "Empty request received".to_owned())
}

fn document_problem(code: &'static str, message: String) -> Problem {
    Problem { severity: Severity::Error, code, path: String::new(), span: None, message, help: None }
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
    fn syntax_errors_are_reported_with_location() {
        let messages = problems("{\"a\": 1,}", Format::Json);
        assert!(messages[0].contains("(line 1, column 9; remove the comma before it)"), "{messages:?}");
        assert_eq!(parse_with("[", Format::Json, &ParseOptions::default()).node, None);
    }
}
