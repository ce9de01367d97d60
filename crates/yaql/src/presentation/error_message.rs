//! Human-readable error messages.
//!
//! [`Error::message`](crate::error::Error::message) matches Python YAQL, for programs that compare it. User
//! interfaces display the expression next to the message, so the messages here do not repeat it, and they use
//! the spelling of operators in expressions instead of internal names.

use crate::ErrorClass;

use super::catalog::title;

pub fn describe_error(class: ErrorClass, message: &str) -> String {
    let name = message.split('"').nth(1).unwrap_or_default();
    let is_special = name.starts_with(['#', '*']);
    match (class, message) {
        (ErrorClass::Grammar | ErrorClass::Lexical, message) => {
            let words = message.split_once(": ").map_or(message, |(_, words)| words);
            words.split(" at position ").next().unwrap_or_default().to_owned()
        }
        (ErrorClass::NoFunction, _) => match name.strip_prefix("#property#") {
            Some(property) => format!("there is no key or property `{property}` here"),
            None => format!("there is no function `{name}`"),
        },
        (ErrorClass::NoMethod, _) => format!("there is no method `{name}`"),
        (ErrorClass::NoMatchingFunction, _) if is_special => {
            format!("{} does not accept these operands", operator_words(name))
        }
        (ErrorClass::NoMatchingFunction, _) => {
            format!("the function `{name}` does not accept these arguments")
        }
        (ErrorClass::NoMatchingMethod, _) => {
            format!(
                "the method `{name}` does not accept these arguments or is not available for this type of value"
            )
        }
        (ErrorClass::Key, key) => format!("there is no key {key}"),
        (ErrorClass::StopIteration, "") => "the collection has no (further) element".to_owned(),
        (_, "") => "the expression failed".to_owned(),
        (_, message) => message.to_owned(),
    }
}

/// Describes an operator, accessor or literal, given its internal name.
fn operator_words(name: &str) -> String {
    match title(name).as_str() {
        "value[…]" => "`[…]` after a value".to_owned(),
        "value(…)" => "`(…)` after a value".to_owned(),
        title => format!("`{title}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_names_are_replaced_by_operators() {
        let check =
            |class, message: &str, expected: &str| assert_eq!(describe_error(class, message), expected);
        let no_match = |name: &str| format!("No function \"{name}\" matches supplied arguments");
        check(ErrorClass::NoMatchingFunction, &no_match("#operator_+"), "`+` does not accept these operands");
        check(
            ErrorClass::NoMatchingFunction,
            &no_match("#indexer"),
            "`[…]` after a value does not accept these operands",
        );
        check(
            ErrorClass::NoMatchingFunction,
            &no_match("len"),
            "the function `len` does not accept these arguments",
        );
        check(
            ErrorClass::NoFunction,
            "Unknown function \"#property#x\"",
            "there is no key or property `x` here",
        );
        check(ErrorClass::NoMethod, "Unknown method \"f\" for receiver \"x\"", "there is no method `f`");
        check(ErrorClass::Key, "'a'", "there is no key 'a'");
    }

    #[test]
    fn syntax_errors_do_not_repeat_the_expression() {
        let message = "Parse error: unexpected ')' at position 3 of expression '1 +)'";
        assert_eq!(describe_error(ErrorClass::Grammar, message), "unexpected ')'");
    }

    #[test]
    fn empty_messages_are_replaced() {
        assert!(!describe_error(ErrorClass::Assertion, "").is_empty());
        assert!(!describe_error(ErrorClass::StopIteration, "").is_empty());
        assert_eq!(describe_error(ErrorClass::Assertion, "mine"), "mine");
    }
}
