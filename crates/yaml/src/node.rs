//! The loaded tree.

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;
use stoker_diagnostics::Span;

use crate::timestamp::Timestamp;

/// One document of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub root: Node,
}

/// A value with its source span.
///
/// An alias is the node of its anchor, so it has the span of the definition. Cloning is cheap: collections
/// and text are shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub kind: NodeKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    Scalar(Scalar),
    Seq(Arc<[Node]>),
    /// Entries in the order of a Python dictionary: `<<` is merged (merged keys first), and a duplicate key
    /// has its first position and its last value. Keys are distinct scalars.
    Map(Arc<[(Node, Node)]>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer outside the range of `i64`.
    BigInt(Arc<BigInt>),
    Float(f64),
    Str(Arc<str>),
    Timestamp(Timestamp),
}

impl Node {
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar(Scalar::Str(text)) => Some(text),
            _ => None,
        }
    }

    pub fn as_seq(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&[(Node, Node)]> {
        match &self.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value of a text key; `None` if it is missing or this is not a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// Returns the type of the node with an article, for messages.
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.kind_name(),
            NodeKind::Seq(_) => "a sequence",
            NodeKind::Map(_) => "a mapping",
        }
    }

    pub(crate) fn scalar(scalar: Scalar, span: Span) -> Self {
        Self { kind: NodeKind::Scalar(scalar), span }
    }
}

impl Scalar {
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::BigInt(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "text",
            Self::Timestamp(_) => "a date",
        }
    }
}

impl From<BigInt> for Scalar {
    fn from(value: BigInt) -> Self {
        i64::try_from(&value).map_or_else(|_| Self::BigInt(Arc::new(value)), Self::Int)
    }
}

/// Formats the scalar as in YAML, without quotes.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::BigInt(value) => value.fmt(f),
            Self::Float(value) => f.write_str(&float_text(*value)),
            Self::Str(text) => f.write_str(text),
            Self::Timestamp(timestamp) => f.write_str(&timestamp.text),
        }
    }
}

/// Formats a float so that every parser reads it as a float: with a decimal point, and a sign in the
/// exponent.
pub(crate) fn float_text(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{value:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let dot = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{dot}e{sign}{exponent}")
}
