//! Messages and hints for syntax errors of the parser.

use granit_parser::{ErrorKind, ScanError};
use stoker_diagnostics::{Diagnostic, Position, Span};

use crate::codes;

pub(crate) fn problem(error: &ScanError, position: Position) -> Diagnostic {
    let span = Span::at(position);
    let code = match error.kind() {
        ErrorKind::RecursionLimitExceeded => codes::LIMIT,
        _ => codes::SYNTAX,
    };
    let (message, help) = explain(error.kind());
    let problem = Diagnostic::error(code, message).at(span);
    if help.is_empty() { problem } else { problem.help(help) }
}

/// Returns the message and the hint (possibly empty) for an error.
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
            ("`- ` is not allowed inside brackets", "separate the items with commas")
        }
        K::InvalidIndentation | K::InvalidFlowScalarIndent | K::InvalidQuotedScalarIndent => {
            ("this line is indented less than its parent", "indent it more")
        }
        K::InvalidBlockScalarIndent => {
            ("a line of this block scalar is indented less than the first", "indent all lines equally")
        }
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabInPlainScalar
        | K::TabAtBlockScalarStart
        | K::InvalidBlockEntryWhitespace
        | K::InvalidMappingValueWhitespace => {
            ("a tab cannot be used to indent or align here", "use spaces instead")
        }
        K::UnclosedQuotedScalar => ("a quote is opened but never closed", "add the closing quote"),
        K::InvalidTrailingSingleQuotedScalar => {
            ("unexpected text after the closing quote", "double the quote inside the text, as in `'it''s'`")
        }
        K::InvalidTrailingDoubleQuotedScalar => {
            ("unexpected text after the closing quote", "write the quote inside the text as `\\\"`")
        }
        K::UnknownQuotedScalarEscape | K::InvalidQuotedScalarHexEscape | K::InvalidUnicodeEscape => {
            ("unknown escape in double quotes", "write a backslash as `\\\\`, or use single quotes")
        }
        K::InvalidLowSurrogateHexEscape
        | K::InvalidLowSurrogate
        | K::MissingLowSurrogate
        | K::UnpairedLowSurrogate => {
            ("unpaired surrogate", "write the character itself, or as `\\U` with eight digits")
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
            ("unmatched closing bracket", "remove it, or put quotes around the text")
        }
        K::DocumentIndicatorInQuotedScalar => {
            ("a document marker inside quotes", "close the quote, or indent the marker")
        }
        K::CommentNotSeparated => {
            ("a comment needs a space before its `#`", "add a space, or put quotes around the text")
        }
        K::CommentInterceptedScalar => {
            ("a comment interrupts a multi-line scalar", "move the comment, or put quotes around the text")
        }
        K::UndeclaredTagHandle => ("the tag uses an undeclared handle", "remove the tag"),
        K::MissingAnchorOrAliasName => {
            ("expected a name after `&` or `*`", "put quotes around text that starts with it")
        }
        K::ExpectedNodeContent => {
            ("expected a value", "check for stray punctuation, or put quotes around the text")
        }
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => (
            "invalid block scalar header",
            "write `|` or `>`, optionally with `+`, `-` or a digit, and start the text on the next line",
        ),
        K::FlowMappingValueAdjacentCollection => ("`:` must be followed by a space here", "add a space"),
        K::PlainScalarStartsWithDashFlowIndicator => {
            ("a lone `-` is not allowed inside brackets", "put quotes around it")
        }
        K::MissingDocumentEndBeforeDirective => {
            ("a `%` line inside a document", "end the document with `...` first")
        }
        K::RecursionLimitExceeded => ("nesting exceeds the limit", ""),
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
            return (format!("`{open}` is closed by `{close}`"), "use matching brackets");
        }
        // Rare errors use the parser's message.
        other => return (other.to_string(), ""),
    };
    (message.to_owned(), help)
}
