//! Parser of `--var NAME=JSON`.

use std::ops::Range;

use stoker_diagnostics::{Diagnostic, Span};
use stoker_yaql::Value;
use stoker_yaql::json::{self, InputStyle};
use stoker_yaql::syntax::VarName;

use crate::exit::{Exit, Failure, Outcome};

/// Parses all variables, or reports all invalid ones.
pub(crate) fn read_vars(arguments: &[String]) -> Outcome<Vec<(VarName, Value)>> {
    let (mut vars, mut diagnostics) = (Vec::new(), Vec::new());
    for argument in arguments {
        match read_var(argument) {
            Ok(var) => vars.push(var),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    if diagnostics.is_empty() { Ok(vars) } else { Err(Failure { exit: Exit::Usage, diagnostics }) }
}

fn read_var(argument: &str) -> Result<(VarName, Value), Box<Diagnostic>> {
    let located = |diagnostic: Diagnostic, range: Range<usize>| {
        Box::new(diagnostic.at(Span::in_text(argument, range)).in_source("--var", argument))
    };
    let Some((name, text)) = argument.split_once('=') else {
        let help = format!("use `--var '{argument}=JSON'`");
        return Err(located(Diagnostic::plain("missing value").help(help), 0..argument.len()));
    };
    let bare = name.strip_prefix('$').unwrap_or(name);
    if !is_name(bare) {
        let message = "variable names may contain only letters, digits and `_`";
        return Err(located(Diagnostic::plain(message), 0..name.len()));
    }
    let value = json::parse(text).map_err(|error| {
        let start = name.len() + 1 + error.at;
        let help = format!("quote strings twice: `--var '{name}=\"TEXT\"'`");
        located(Diagnostic::error("json-syntax", error.message).help(help), start..start + 1)
    })?;
    let value = json::decode(value, InputStyle::Converted)
        .map_err(|error| located(Diagnostic::plain(error.message), name.len() + 1..argument.len()))?;
    Ok((VarName::new(bare), value))
}

pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(argument: &str) -> (String, std::ops::Range<usize>) {
        let diagnostic = read_var(argument).unwrap_err();
        (diagnostic.message, diagnostic.location.span.unwrap().bytes())
    }

    #[test]
    fn parses_name_and_json() {
        let (name, value) = read_var("$x=[1]").unwrap();
        assert_eq!((name.to_string(), value.sized_len()), ("$x".to_owned(), Some(1)));
        assert_eq!(read_var("1=null").unwrap().0, VarName::FIRST);
    }

    #[test]
    fn errors_have_locations() {
        assert_eq!(problem("x"), ("missing value".to_owned(), 0..1));
        assert_eq!(problem("a-b=1").1, 0..3);
        assert_eq!(problem("name=abc").1, 5..6);
        assert_eq!(problem("d={\"$yaql\": \"no\"}").0, "unknown tag 'no'");
    }

    #[test]
    fn reports_all_invalid_variables() {
        let failure = read_vars(&["a=1".into(), "b".into(), "c=x".into()]).unwrap_err();
        assert_eq!((failure.diagnostics.len(), failure.exit), (2, Exit::Usage));
    }
}
