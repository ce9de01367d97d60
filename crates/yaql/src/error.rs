//! The one error type of the language: a class users of the reference know, a message, a place.

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

    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

macro_rules! error_classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What went wrong, by the names of the reference implementation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorClass {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorClass {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name used in the JSON-line protocol.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

error_classes! {
    /// A character that begins no token.
    Lexical = "YaqlLexicalException",
    /// Tokens that form no expression.
    Grammar = "YaqlGrammarException",
    /// A bad escape in a string literal.
    UnicodeDecode = "UnicodeDecodeError",
    NoFunction = "NoFunctionRegisteredException",
    NoMethod = "NoMethodRegisteredException",
    NoMatchingFunction = "NoMatchingFunctionException",
    NoMatchingMethod = "NoMatchingMethodException",
    AmbiguousFunction = "AmbiguousFunctionException",
    AmbiguousMethod = "AmbiguousMethodException",
    MappingTranslation = "MappingTranslationException",
    /// An argument of a call by value that no parameter takes.
    Argument = "ArgumentException",
    CollectionTooLarge = "CollectionTooLargeException",
    MemoryQuota = "MemoryQuotaExceededException",
    /// Ours: more evaluation steps than allowed.
    StepLimit = "StepLimitExceededException",
    /// Ours: the host asked the evaluation to stop.
    Interrupted = "Timeout",
    Key = "KeyError",
    Index = "IndexError",
    StopIteration = "StopIteration",
    Type = "TypeError",
    Value = "ValueError",
    ZeroDivision = "ZeroDivisionError",
    Overflow = "OverflowError",
    /// A time that the C library cannot express.
    Os = "OSError",
    Assertion = "AssertionError",
    Attribute = "AttributeError",
    Recursion = "RecursionError",
    Runtime = "RuntimeError",
    Regex = "re.error",
    /// A request line that is no request.
    Protocol = "ProtocolError",
}

/// Why an expression has no value.
#[derive(Clone, Debug)]
pub struct Error {
    pub class: ErrorClass,
    pub message: String,
    /// Where in the source of the expression, when known.
    pub span: Option<Span>,
    /// The text that the span is about, when it is not the expression that was asked for.
    pub source: Option<Arc<str>>,
    /// What the author may do about it, as a sentence fragment.
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

    /// The message of a syntax error without what whoever shows the expression shows anyway: the reference repeats
    /// the whole expression in it.
    pub fn short_message(&self) -> &str {
        let message = self.message.as_str();
        let start = message.strip_prefix("Parse error: ").or_else(|| message.strip_prefix("Lexical error: "));
        start.unwrap_or(message).split(" at position ").next().unwrap_or_default()
    }

    pub fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Value, message)
    }

    /// A `TypeError`.
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

/// Errors are rare and results are everywhere, so the error is boxed.
pub type Result<T, E = Box<Error>> = std::result::Result<T, E>;
