//! The error type of the language: an error class of Python YAQL, a message and a source span.

use std::fmt;
use std::sync::Arc;

/// A half-open range of bytes in the source text of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// Returns the smallest span that covers both spans.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

macro_rules! error_classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Error class, named as in the reference implementation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorClass {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorClass {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name used in the JSON-line protocol.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

error_classes! {
    /// A character that starts no token.
    Lexical = "YaqlLexicalException",
    /// A token sequence that is not an expression.
    Grammar = "YaqlGrammarException",
    /// An invalid escape sequence in a string literal.
    UnicodeDecode = "UnicodeDecodeError",
    NoFunction = "NoFunctionRegisteredException",
    NoMethod = "NoMethodRegisteredException",
    NoMatchingFunction = "NoMatchingFunctionException",
    NoMatchingMethod = "NoMatchingMethodException",
    AmbiguousFunction = "AmbiguousFunctionException",
    AmbiguousMethod = "AmbiguousMethodException",
    MappingTranslation = "MappingTranslationException",
    /// A named argument passed by value that matches no parameter.
    Argument = "ArgumentException",
    CollectionTooLarge = "CollectionTooLargeException",
    MemoryQuota = "MemoryQuotaExceededException",
    /// The step limit was exceeded; Python YAQL has no such error.
    StepLimit = "StepLimitExceededException",
    /// The host interrupted the evaluation; Python YAQL has no such error.
    Interrupted = "Timeout",
    Key = "KeyError",
    Index = "IndexError",
    StopIteration = "StopIteration",
    Type = "TypeError",
    Value = "ValueError",
    ZeroDivision = "ZeroDivisionError",
    Overflow = "OverflowError",
    /// A time outside the range of the C library.
    Os = "OSError",
    Assertion = "AssertionError",
    Attribute = "AttributeError",
    Recursion = "RecursionError",
    Runtime = "RuntimeError",
    Regex = "re.error",
    /// A malformed request of the line-based evaluation protocol (`protocol.rs`).
    Protocol = "ProtocolError",
}

/// An evaluation or syntax error.
#[derive(Clone, Debug)]
pub struct Error {
    pub class: ErrorClass,
    pub message: String,
    /// Location in the source of the expression, if known.
    pub span: Option<Span>,
    /// The text that `span` refers to, if it is not the evaluated expression (for example the body of a
    /// helper).
    pub source: Option<Arc<str>>,
    /// Suggested fix, as a sentence fragment.
    pub help: Option<String>,
}

impl Error {
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), span: None, source: None, help: None }
    }

    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the message of a syntax error without its prefix and without the expression, which the
    /// reference repeats in the message. For callers that display the expression themselves.
    pub fn short_message(&self) -> &str {
        let message = self.message.as_str();
        let start = message.strip_prefix("Parse error: ").or_else(|| message.strip_prefix("Lexical error: "));
        start.unwrap_or(message).split(" at position ").next().unwrap_or_default()
    }

    pub fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Value, message)
    }

    /// Creates a `TypeError`.
    pub fn kind(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Type, message)
    }

    pub fn overflow(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Overflow, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Boxes the error to keep `Result` small: nearly every function of the crate returns a result.
pub type Result<T, E = Box<Error>> = std::result::Result<T, E>;
