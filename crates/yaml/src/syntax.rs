//! Syntax errors of the parser in plain words.

use granit_parser::{ErrorKind, ScanError};

use crate::position::{Position, Span};
use crate::problem::{Problem, codes};

pub(crate) fn problem(error: &ScanError, place: Position) -> Problem {
    let span = Span::at(place);
    let code = match error.kind() {
        ErrorKind::RecursionLimitExceeded => codes::LIMIT,
        _ => codes::SYNTAX,
    };
    let (message, help) = explain(error.kind());
    let problem = Problem::error(code, span, message);
    if help.is_empty() { problem } else { problem.help(help) }
}

/// What is wrong, and what to do about it (or nothing).
fn explain(kind: &ErrorKind) -> (String, &'static str) {
    use ErrorKind as K;
    let (message, help) = match kind {
        K::MappingValueNotAllowed | K::InvalidColonPlacement => (
            "a `key: value` pair cannot start here",
            "check the indentation, or put quotes around text with `: ` in it",
        ),
        K::MappingKeyNotAllowed => ("a key cannot start here", "check the indentation"),
        K::ExpectedBlockMappingKey => {
            ("expected a key of the mapping", "line this up with the other keys, or indent it more")
        }
        K::SimpleKeyExpected | K::InvalidSimpleKey => {
            ("expected `:` after this key", "add `:`, or check the indentation of this line")
        }
        K::ExpectedBlockSequenceEntry => {
            ("expected another `- ` item", "line this up with the other items, or indent it more")
        }
        K::BlockSequenceEntryNotAllowed => {
            ("a `- ` item cannot start here", "begin the list on a line of its own, below its key")
        }
        K::BlockEntryInFlowCollection => {
            ("`- ` has no place inside brackets", "separate the items with commas")
        }
        K::InvalidIndentation | K::InvalidFlowScalarIndent | K::InvalidQuotedScalarIndent => {
            ("this line is indented less than what it belongs to", "indent it more")
        }
        K::InvalidBlockScalarIndent => {
            ("a line of this block of text is indented less than the first", "indent all lines alike")
        }
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabInPlainScalar
        | K::TabAtBlockScalarStart
        | K::InvalidBlockEntryWhitespace
        | K::InvalidMappingValueWhitespace => {
            ("a tab cannot be used to indent or align here", "use blanks instead")
        }
        K::UnclosedQuotedScalar => ("a quote is opened but never closed", "add the closing quote"),
        K::InvalidTrailingSingleQuotedScalar => {
            ("text goes on after the closing quote", "double the quote inside the text, as in `'it''s'`")
        }
        K::InvalidTrailingDoubleQuotedScalar => {
            ("text goes on after the closing quote", "write the quote inside the text as `\\\"`")
        }
        K::UnknownQuotedScalarEscape | K::InvalidQuotedScalarHexEscape | K::InvalidUnicodeEscape => {
            ("unknown escape in double quotes", "write a backslash as `\\\\`, or use single quotes")
        }
        K::InvalidLowSurrogateHexEscape
        | K::InvalidLowSurrogate
        | K::MissingLowSurrogate
        | K::UnpairedLowSurrogate => {
            ("half of a surrogate pair", "write the character itself, or as `\\U` with eight digits")
        }
        K::UnexpectedEofFlowSequence | K::ExpectedFlowSequenceSeparator => {
            ("expected `,` or `]`", "close the list, or put quotes around the text")
        }
        K::UnexpectedEofFlowMapping
        | K::UnexpectedEofImplicitFlowMapping
        | K::ExpectedFlowMappingSeparator => {
            ("expected `,` or `}`", "close the mapping, or put quotes around the text")
        }
        K::MisplacedFlowCollectionEnd => {
            ("this bracket closes nothing", "remove it, or put quotes around the text")
        }
        K::DocumentIndicatorInQuotedScalar => {
            ("a document marker inside quotes", "close the quote, or indent the marker")
        }
        K::CommentNotSeparated => {
            ("a comment needs a blank before its `#`", "add a blank, or put quotes around the text")
        }
        K::CommentInterceptedScalar => {
            ("a comment interrupts text of several lines", "move the comment, or put quotes around the text")
        }
        K::UndeclaredTagHandle => ("the tag uses an undeclared handle", "remove the tag"),
        K::MissingAnchorOrAliasName => {
            ("expected a name after `&` or `*`", "put quotes around text that starts with it")
        }
        K::ExpectedNodeContent => {
            ("expected a value", "check for stray punctuation, or put quotes around the text")
        }
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => (
            "this is no valid beginning of a block of text",
            "write only `|` or `>` with `+`, `-` or a digit, and begin the text on the next line",
        ),
        K::FlowMappingValueAdjacentCollection => ("`:` needs a blank after it here", "add a blank"),
        K::PlainScalarStartsWithDashFlowIndicator => {
            ("a lone `-` inside brackets is no text", "put quotes around it")
        }
        K::MissingDocumentEndBeforeDirective => {
            ("a `%` line inside a document", "end the document with `...` first")
        }
        K::RecursionLimitExceeded => ("the nesting is deeper than allowed", ""),
        K::UnsupportedYamlMajorVersion => {
            ("this version of YAML is not supported", "remove the `%YAML` line")
        }
        K::UnexpectedCharacter { character: character @ ('@' | '`' | '%') } => {
            return (format!("text cannot start with `{character}`"), "put quotes around it");
        }
        K::UnexpectedCharacter { character } => {
            return (
                format!("unexpected character `{}`", character.escape_default()),
                "put quotes around the text",
            );
        }
        K::UnclosedFlowCollection { open } => {
            return (format!("`{open}` is never closed"), "add the closing bracket");
        }
        K::MismatchedFlowCollectionEnd { open, close } => {
            return (format!("`{open}` is closed by `{close}`"), "use brackets of one kind");
        }
        // Rare ones: the parser's own words.
        other => return (other.to_string(), ""),
    };
    (message.to_owned(), help)
}
