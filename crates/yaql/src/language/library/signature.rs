//! Signature notation: `m where(collection: iter, predicate: lambda)`.
//!
//! ```text
//! signature = style name "(" [ param { "," param } ] ")" [ "pairs" ]
//! style     = "f" | "m" | "fm"              function, method, both; a method's receiver is its
//!                                           first parameter
//! param     = name ":" type [ "?" ] [ "..." ] [ "=" default ]
//!           | "**" name ":" type            collects the remaining named arguments
//! ```
//! With `pairs`, arguments of the form `k => v` are positional pairs rather than named arguments.

use std::fmt;

use crate::value::{KindSet, ValueKind};

/// The call styles that an overload supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Function,
    Method,
    Both,
}

impl Style {
    pub fn is_function(self) -> bool {
        self != Self::Method
    }

    pub fn is_method(self) -> bool {
        self != Self::Function
    }
}

#[derive(Clone, Debug)]
pub struct Signature {
    pub name: Box<str>,
    pub style: Style,
    pub params: Vec<Param>,
    /// Collects the surplus positional arguments.
    pub rest: Option<Param>,
    /// Collects the named arguments that match no parameter.
    pub named_rest: Option<Param>,
    pub pairs: bool,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: Box<str>,
    pub kind: ParamType,
    pub default: Option<Default>,
}

/// The default value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// No value; the function can detect that the argument was omitted.
    None,
    Null,
    Bool(bool),
    Int(i64),
    Str(Box<str>),
    /// The zero timespan.
    ZeroSpan,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// An evaluated value of one of these kinds.
    Value(KindSet),
    /// An iterable value, subject to the iterator limit.
    Iter(KindSet),
    /// `k => v`, both evaluated.
    Pair,
    /// An unevaluated expression.
    Lambda,
    /// An unevaluated expression that the function evaluates in a context it creates.
    LambdaInContext,
    /// A call to be applied to a receiver: the right operand of a dot.
    MethodLambda,
    /// `k => v`, both unevaluated.
    LazyPair,
    /// A bare keyword.
    Keyword,
    /// The expression itself.
    Expression,
}

impl ParamType {
    pub fn is_lazy(self) -> bool {
        !matches!(self, Self::Value(_) | Self::Iter(_) | Self::Pair | Self::Keyword)
    }

    /// Reports whether a value of this kind is accepted.
    pub fn accepts(self, kind: ValueKind, iterable_dicts: bool) -> bool {
        match self {
            Self::Value(kinds) => kinds.has(kind),
            Self::Iter(kinds) => kinds.has(kind) || (iterable_dicts && KindSet::MAP.has(kind)),
            Self::Lambda | Self::LambdaInContext | Self::MethodLambda => true,
            Self::Pair | Self::LazyPair | Self::Keyword | Self::Expression => false,
        }
    }

    /// Reports whether this type is a strict subtype of `other`, which makes an overload more specific.
    pub fn is_specialization_of(self, other: Self) -> bool {
        if self == Self::Pair {
            // In Python YAQL, a pair is an instance of `object`.
            return matches!(other, Self::Value(kinds) if kinds == KindSet::ANY);
        }
        let (Self::Value(a) | Self::Iter(a)) = self else { return false };
        let (Self::Value(b) | Self::Iter(b)) = other else { return false };
        // The type system of Python YAQL treats maps as iterables even where they are not accepted as such.
        let b = if matches!(other, Self::Iter(_)) { b.or(KindSet::MAP) } else { b };
        a.is_strict_subset(b)
    }
}

/// A malformed signature.
#[derive(Clone, Debug)]
pub struct SignatureError {
    pub signature: String,
    pub problem: String,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid signature `{}`: {}", self.signature, self.problem)
    }
}

impl std::error::Error for SignatureError {}

impl Signature {
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        parse(text).map_err(|problem| SignatureError { signature: text.to_owned(), problem })
    }
}

fn parse(text: &str) -> Result<Signature, String> {
    let (style, rest) = text.split_once(' ').ok_or("expected a style and a name")?;
    let style = match style {
        "f" => Style::Function,
        "m" => Style::Method,
        "fm" => Style::Both,
        other => return Err(format!("unknown style `{other}`")),
    };
    // Operator names may contain any character except `(`.
    let open = rest.find('(').ok_or("expected parameters in parentheses")?;
    let close = rest.rfind(')').ok_or("missing `)`")?;
    let pairs = match rest[close + 1..].trim() {
        "" => false,
        "pairs" => true,
        other => return Err(format!("unexpected `{other}` after the parameters")),
    };
    let name = rest[..open].into();
    let mut signature = Signature { name, style, params: Vec::new(), rest: None, named_rest: None, pairs };
    for param in rest[open + 1..close].split(',').map(str::trim).filter(|param| !param.is_empty()) {
        add_param(&mut signature, param)?;
    }
    Ok(signature)
}

fn add_param(signature: &mut Signature, text: &str) -> Result<(), String> {
    let (name, kind) = text.split_once(':').ok_or_else(|| format!("parameter `{text}` has no type"))?;
    let (kind, default) = match kind.split_once('=') {
        Some((kind, default)) => (kind.trim(), Some(parse_default(default.trim())?)),
        None => (kind.trim(), None),
    };
    let (kind, many) = match kind.strip_suffix("...") {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let (name, collects_names) = match name.strip_prefix("**") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let param = Param { name: name.trim().into(), kind: parse_type(kind)?, default };
    if collects_names {
        signature.named_rest = Some(param);
    } else if many {
        signature.rest = Some(param);
    } else {
        signature.params.push(param);
    }
    Ok(())
}

fn parse_default(text: &str) -> Result<Default, String> {
    Ok(match text {
        "none" => Default::None,
        "null" => Default::Null,
        "true" => Default::Bool(true),
        "false" => Default::Bool(false),
        "timespan()" => Default::ZeroSpan,
        _ => match (text.parse(), text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''))) {
            (Ok(number), _) => Default::Int(number),
            (_, Some(inner)) => Default::Str(inner.into()),
            _ => return Err(format!("invalid default `{text}`")),
        },
    })
}

fn parse_type(text: &str) -> Result<ParamType, String> {
    let (text, nullable) = match text.strip_suffix('?') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let kinds = match text {
        "any" => KindSet::ANY,
        "any!" => KindSet::ANY.without(KindSet::Null),
        "null" => KindSet::Null,
        "bool" => KindSet::Bool,
        "int" => KindSet::INT,
        "integer" => KindSet::Int,
        "number" => KindSet::NUMBER,
        "string" => KindSet::Str,
        "regex" => KindSet::Regex,
        "timespan" => KindSet::TimeSpan,
        "datetime" => KindSet::DateTime,
        "context" => KindSet::Context,
        "callable" => KindSet::Callable,
        "tuple" => KindSet::Tuple,
        "seq" => KindSet::SEQ,
        "map" => KindSet::MAP,
        "set" => KindSet::SETS,
        "iterator" => KindSet::Iterator,
        "ordering" => KindSet::Ordering,
        "iter" => return Ok(ParamType::Iter(nullable_kinds(KindSet::ITER, nullable))),
        "iter-not-set" => return Ok(ParamType::Iter(KindSet::ITER.without(KindSet::SETS))),
        "pair" => return Ok(ParamType::Pair),
        "lambda" => return Ok(ParamType::Lambda),
        "lambda-in-context" => return Ok(ParamType::LambdaInContext),
        "method-lambda" => return Ok(ParamType::MethodLambda),
        "lazy-pair" => return Ok(ParamType::LazyPair),
        "keyword" => return Ok(ParamType::Keyword),
        "expr" => return Ok(ParamType::Expression),
        other => return Err(format!("unknown type `{other}`")),
    };
    Ok(ParamType::Value(nullable_kinds(kinds, nullable)))
}

fn nullable_kinds(kinds: KindSet, nullable: bool) -> KindSet {
    if nullable { kinds.or(KindSet::Null) } else { kinds }
}

/// Formats the signature like a call: the receiver of a method in front, an operator between its operands.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut params: Vec<String> = self.params.iter().map(ToString::to_string).collect();
        params.extend(self.rest.iter().map(|rest| format!("{rest}…")));
        params.extend(self.named_rest.iter().map(|rest| format!("**{rest}")));
        let (first, others) = match params.split_first() {
            Some((first, others)) => (first.as_str(), others.join(", ")),
            None => ("receiver", String::new()),
        };
        match (&*self.name, self.style) {
            ("#call", _) => write!(f, "({first})({others})"),
            ("#get_context_data", _) => f.write_str("$name"),
            ("#indexer", _) => write!(f, "({first})[{others}]"),
            ("#list", _) => write!(f, "[{}]", params.join(", ")),
            ("#map", _) => write!(f, "{{{}}}", params.join(", ")),
            ("*equal", _) => f.write_str(&params.join(" = ")),
            ("*not_equal", _) => f.write_str(&params.join(" != ")),
            (name, style) => match (prefixed(name), style) {
                (Some((Prefix::Binary, symbol @ ("." | "?."))), _) => write!(f, "({first}){symbol}{others}"),
                (Some((Prefix::Binary, symbol)), _) if params.len() == 1 => write!(f, "{first} {symbol} …"),
                (Some((Prefix::Binary, symbol)), _) => f.write_str(&params.join(&format!(" {symbol} "))),
                (Some((Prefix::Unary, symbol)), _) if is_word(symbol) => write!(f, "{symbol} {first}"),
                (Some((Prefix::Unary, symbol)), _) => write!(f, "{symbol}{first}"),
                (Some((Prefix::Property, property)), _) => write!(f, "({first}).{property}"),
                (None, Style::Method) => write!(f, "({first}).{name}({others})"),
                (None, _) => write!(f, "{name}({})", params.join(", ")),
            },
        }
    }
}

enum Prefix {
    Binary,
    Unary,
    Property,
}

/// Returns the prefix of a special name, and its symbol or word.
fn prefixed(name: &str) -> Option<(Prefix, &str)> {
    let binary = name.strip_prefix("#operator_").map(|symbol| (Prefix::Binary, symbol));
    let unary = || name.strip_prefix("#unary_operator_").map(|symbol| (Prefix::Unary, symbol));
    let property = || name.strip_prefix("#property#").map(|property| (Prefix::Property, property));
    binary.or_else(unary).or_else(property)
}

fn is_word(symbol: &str) -> bool {
    symbol.starts_with(char::is_alphabetic)
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.kind)?;
        match &self.default {
            None | Some(Default::None) => Ok(()),
            Some(Default::Null) => f.write_str(" = null"),
            Some(Default::Bool(flag)) => write!(f, " = {flag}"),
            Some(Default::Int(number)) => write!(f, " = {number}"),
            Some(Default::Str(text)) => write!(f, " = '{text}'"),
            Some(Default::ZeroSpan) => f.write_str(" = timespan()"),
        }
    }
}

impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = match self {
            Self::Value(kinds) | Self::Iter(kinds) => *kinds,
            Self::Pair => return f.write_str("pair"),
            Self::Lambda | Self::LambdaInContext | Self::MethodLambda => return f.write_str("λ"),
            Self::LazyPair => return f.write_str("λ pair"),
            Self::Keyword => return f.write_str("keyword"),
            Self::Expression => return f.write_str("expression"),
        };
        const NAMES: &[(KindSet, &str)] = &[
            (KindSet::ANY, "any"),
            (KindSet::ITER, "iter"),
            (KindSet::NUMBER, "number"),
            (KindSet::INT, "int"),
            (KindSet::Int, "integer"),
            (KindSet::SEQ, "seq"),
            (KindSet::MAP, "map"),
            (KindSet::SETS, "set"),
            (KindSet::Str, "string"),
            (KindSet::Bool, "bool"),
            (KindSet::Regex, "regex"),
            (KindSet::TimeSpan, "timespan"),
            (KindSet::DateTime, "datetime"),
            (KindSet::Context, "context"),
            (KindSet::Callable, "callable"),
            (KindSet::Tuple, "tuple"),
            (KindSet::Iterator, "iterator"),
            (KindSet::Ordering, "ordering"),
            (KindSet::Null, "null"),
        ];
        let not_null = kinds.without(KindSet::Null);
        for (named_kinds, name) in NAMES {
            if *named_kinds == kinds {
                return f.write_str(name);
            }
            if *named_kinds == not_null {
                return write!(f, "{name}?");
            }
        }
        f.write_str(if kinds == KindSet::ANY.without(KindSet::Null) { "any!" } else { "iter" })
    }
}
