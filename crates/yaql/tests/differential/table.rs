//! The functions of the library as the generator sees them: signatures from the library itself,
//! and beside them what their results are.

use std::sync::Arc;

use stoker_yaql::library::{Overload, Purity};
use stoker_yaql::{Engine, Library};

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
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
    /// A lazy collection of the elements of its receiver.
    Same,
    /// A lazy collection of what its lambda gives.
    Mapped,
    Ordering,
    /// One element of its receiver, or what is made of two elements.
    Element,
    /// A sequence of the elements of its receiver.
    Seq,
    Strings,
    Ints,
    /// A collection of collections of the elements of its receiver.
    Parts,
    Set,
    Dict,
    Unknown,
}

pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) overload: Arc<Overload>,
    pub(crate) gives: Gives,
}

pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

impl Table {
    /// Functions that depend on nothing but their arguments; operators have forms of their own.
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
                let known = |other: &Entry| Arc::ptr_eq(&other.overload, overload);
                if overload.function.doc().purity == Purity::Pure && !entries.iter().any(known) {
                    let gives = gives(name, overload);
                    entries.push(Entry { name: name.to_owned(), overload: overload.clone(), gives });
                }
            }
        }
        entries.sort_by_key(|entry| (entry.name.clone(), entry.overload.signature.to_string()));
        Self { entries }
    }
}

fn gives(name: &str, overload: &Overload) -> Gives {
    let first = overload.signature.params.first().map_or("", |param| &param.name);
    match name {
        "abs" | "pow" | "round" => Gives::Number,
        "accumulate" | "append" | "concat" | "cycle" | "defaultIfEmpty" | "delete" | "distinct"
        | "filter" | "flatten" | "generate" | "generateMany" | "insertMany" | "limit" | "memorize"
        | "replaceMany" | "reverse" | "skip" | "skipWhile" | "take" | "takeWhile" | "where"
            if first != "string" && first != "dict" =>
        {
            Gives::Same
        }
        "aggregate" | "coalesce" | "first" | "last" | "max" | "min" | "reduce" | "single" | "sum"
        | "switchCase" | "assert" => Gives::Element,
        "all" | "any" | "bool" | "contains" | "containsKey" | "containsValue" | "endsWith" | "isBoolean"
        | "isDatetime" | "isDict" | "isEmpty" | "isInteger" | "isIterable" | "isList" | "isNumber"
        | "isRegex" | "isSet" | "isString" | "isTimespan" | "matches" | "startsWith" => Gives::Bool,
        "bitwiseAnd" | "bitwiseNot" | "bitwiseOr" | "bitwiseXor" | "count" | "indexOf" | "indexWhere"
        | "int" | "lastIndexOf" | "lastIndexWhere" | "len" | "selectCase" | "shiftBitsLeft"
        | "shiftBitsRight" | "sign" => Gives::Int,
        "concat" | "escapeRegex" | "format" | "hex" | "norm" | "replaceBy" | "str" | "substring"
        | "toLower" | "toUpper" | "trim" | "trimLeft" | "trimRight" => Gives::Str,
        "join" if overload.signature.params.len() == 2 => Gives::Str,
        "join" | "map" | "select" | "selectMany" | "repeat" => Gives::Mapped,
        "datetime" => Gives::DateTime,
        "def" | "let" | "unpack" | "with" => Gives::Context,
        "delete" | "deleteAll" | "dict" | "mergeWith" | "toDict" => Gives::Dict,
        "float" => Gives::Float,
        "add" | "difference" | "intersect" | "remove" | "symmetricDifference" | "toSet" | "union" => {
            Gives::Set
        }
        "set" if first == "dict" => Gives::Dict,
        "set" => Gives::Set,
        "insert" | "list" | "toList" => Gives::Seq,
        "orderBy" | "orderByDescending" | "thenBy" | "thenByDescending" => Gives::Ordering,
        "range" | "selectAllCases" | "sequence" => Gives::Ints,
        "regex" => Gives::Regex,
        "replace" => match first {
            "collection" => Gives::Same,
            "dt" => Gives::DateTime,
            _ => Gives::Str,
        },
        "rightSplit" | "split" | "toCharArray" | "characters" | "searchAll" => Gives::Strings,
        "slice" | "sliceWhere" | "splitAt" | "splitWhere" | "zip" | "zipLongest" => Gives::Parts,
        "localtz" | "timespan" | "utctz" => Gives::TimeSpan,
        _ => Gives::Unknown,
    }
}
