//! The functions of the library for the generator: signatures from the library, and the types of their
//! results.

use std::sync::Arc;

use stoker_yaql::library::{Overload, Purity};
use stoker_yaql::{Engine, Library};

/// The type of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    Bool,
    Int,
    Float,
    /// An integer or a float.
    Number,
    Str,
    DateTime,
    TimeSpan,
    Regex,
    Context,
    /// A lazy collection of elements of the receiver.
    Same,
    /// A lazy collection of results of the lambda.
    Mapped,
    Ordering,
    /// Argument type: an element of the receiver, or a combination of two elements.
    Element,
    /// A sequence of elements of the receiver.
    Seq,
    Strings,
    Ints,
    /// A collection of collections of elements of the receiver.
    Parts,
    Set,
    Dict,
    Unknown,
}

pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) overload: Arc<Overload>,
    pub(crate) result_type: ResultType,
}

pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

impl Table {
    /// Lists the pure functions. Operators are generated separately.
    pub(crate) fn new() -> Self {
        Self::of(&Library::standard())
    }

    pub(crate) fn of_dialect(engine: &Engine) -> Self {
        Self::of(engine.library())
    }

    fn of(library: &Library) -> Self {
        let mut entries = Vec::new();
        for (name, entry) in library.names() {
            if name.starts_with(['#', '*']) {
                continue;
            }
            for overload in entry.functions.iter().chain(&entry.methods).flatten() {
                let is_listed = |other: &Entry| Arc::ptr_eq(&other.overload, overload);
                if overload.function.doc().purity == Purity::Pure && !entries.iter().any(is_listed) {
                    let result_type = result_type(name, overload);
                    entries.push(Entry { name: name.to_owned(), overload: overload.clone(), result_type });
                }
            }
        }
        entries.sort_by_key(|entry| (entry.name.clone(), entry.overload.signature.to_string()));
        Self { entries }
    }
}

fn result_type(name: &str, overload: &Overload) -> ResultType {
    let first = overload.signature.params.first().map_or("", |param| &param.name);
    match name {
        "abs" | "pow" | "round" => ResultType::Number,
        "accumulate" | "append" | "concat" | "cycle" | "defaultIfEmpty" | "delete" | "distinct"
        | "filter" | "flatten" | "generate" | "generateMany" | "insertMany" | "limit" | "memorize"
        | "replaceMany" | "reverse" | "skip" | "skipWhile" | "take" | "takeWhile" | "where"
            if first != "string" && first != "dict" =>
        {
            ResultType::Same
        }
        "aggregate" | "coalesce" | "first" | "last" | "max" | "min" | "reduce" | "single" | "sum"
        | "switchCase" | "assert" => ResultType::Element,
        "all" | "any" | "bool" | "contains" | "containsKey" | "containsValue" | "endsWith" | "isBoolean"
        | "isDatetime" | "isDict" | "isEmpty" | "isInteger" | "isIterable" | "isList" | "isNumber"
        | "isRegex" | "isSet" | "isString" | "isTimespan" | "matches" | "startsWith" => ResultType::Bool,
        "bitwiseAnd" | "bitwiseNot" | "bitwiseOr" | "bitwiseXor" | "count" | "indexOf" | "indexWhere"
        | "int" | "lastIndexOf" | "lastIndexWhere" | "len" | "selectCase" | "shiftBitsLeft"
        | "shiftBitsRight" | "sign" => ResultType::Int,
        "concat" | "escapeRegex" | "format" | "hex" | "norm" | "replaceBy" | "str" | "substring"
        | "toLower" | "toUpper" | "trim" | "trimLeft" | "trimRight" => ResultType::Str,
        "join" if overload.signature.params.len() == 2 => ResultType::Str,
        "join" | "map" | "select" | "selectMany" | "repeat" => ResultType::Mapped,
        "datetime" => ResultType::DateTime,
        "def" | "let" | "unpack" | "with" => ResultType::Context,
        "delete" | "deleteAll" | "dict" | "mergeWith" | "toDict" => ResultType::Dict,
        "float" => ResultType::Float,
        "add" | "difference" | "intersect" | "remove" | "symmetricDifference" | "toSet" | "union" => {
            ResultType::Set
        }
        "set" if first == "dict" => ResultType::Dict,
        "set" => ResultType::Set,
        "insert" | "list" | "toList" => ResultType::Seq,
        "orderBy" | "orderByDescending" | "thenBy" | "thenByDescending" => ResultType::Ordering,
        "range" | "selectAllCases" | "sequence" => ResultType::Ints,
        "regex" => ResultType::Regex,
        "replace" => match first {
            "collection" => ResultType::Same,
            "dt" => ResultType::DateTime,
            _ => ResultType::Str,
        },
        "rightSplit" | "split" | "toCharArray" | "characters" | "searchAll" => ResultType::Strings,
        "slice" | "sliceWhere" | "splitAt" | "splitWhere" | "zip" | "zipLongest" => ResultType::Parts,
        "localtz" | "timespan" | "utctz" => ResultType::TimeSpan,
        _ => ResultType::Unknown,
    }
}
