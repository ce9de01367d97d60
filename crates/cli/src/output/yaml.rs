//! Values as YAML.

use stoker_yaml::emit::{self, Atom, Emit, View};
use stoker_yaql::json::{self, WriteOptions};
use stoker_yaql::value::Map;
use stoker_yaql::{Options, Result, Value};

/// The longest result, as JSON, that is also written as YAML: its tree takes many times that space.
const BYTES_MAX: usize = 64 << 20;

pub(super) fn to_yaml(value: &Value, options: &Options) -> Result<String> {
    // JSON is refused where it would be too long, or a number has too many digits; so is YAML then.
    json::write(value, &WriteOptions { bytes_max: BYTES_MAX, ..WriteOptions::default() })?;
    Ok(emit::to_yaml(&Tree::new(value, options.convert_tuples_to_lists)?))
}

/// A value with its tags written out, so that the writer can borrow from it.
enum Tree {
    /// A scalar of the language that is one of YAML too.
    Scalar(Value),
    Seq(Vec<Tree>),
    Map(Vec<(Value, Tree)>),
}

impl Tree {
    fn new(value: &Value, tuples_as_arrays: bool) -> Result<Self> {
        Ok(match value {
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Float(_)
            | Value::Str(_) => Self::Scalar(value.clone()),
            Value::Tuple(_) if !tuples_as_arrays => Self::tagged(value, tuples_as_arrays)?,
            Value::Tuple(items) | Value::List(items) => {
                let items = items.iter().map(|item| Self::new(item, tuples_as_arrays));
                Self::Seq(items.collect::<Result<_>>()?)
            }
            Value::FrozenDict(map) | Value::Dict(map) if has_scalar_keys(map) => {
                let entries =
                    map.iter().map(|(key, item)| Ok((key.clone(), Self::new(item, tuples_as_arrays)?)));
                Self::Map(entries.collect::<Result<_>>()?)
            }
            other => Self::tagged(other, tuples_as_arrays)?,
        })
    }

    /// What YAML lacks looks as it does in JSON.
    fn tagged(value: &Value, tuples_as_arrays: bool) -> Result<Self> {
        let text = json::write(value, &WriteOptions { tuples_as_arrays, ..WriteOptions::default() })?;
        let parsed =
            json::parse(&text).map_err(|error| Box::new(stoker_yaql::Error::value(error.message)))?;
        Self::plain(&parsed)
    }

    /// A tree of what came from JSON, in which `$yaql` is a key like any other.
    fn plain(value: &Value) -> Result<Self> {
        match value.as_map() {
            Some(map) => {
                let entries = map.iter().map(|(key, item)| Ok((key.clone(), Self::plain(item)?)));
                Ok(Self::Map(entries.collect::<Result<_>>()?))
            }
            None => match value.as_seq() {
                Some(items) => Ok(Self::Seq(items.iter().map(Self::plain).collect::<Result<_>>()?)),
                None => Ok(Self::Scalar(value.clone())),
            },
        }
    }
}

fn has_scalar_keys(map: &Map) -> bool {
    map.iter().all(|(key, _)| match key {
        Value::Str(text) => &**text != "$yaql",
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => true,
        _ => false,
    })
}

impl Emit for Tree {
    fn view(&self) -> View<'_> {
        match self {
            Self::Scalar(value) => View::Atom(atom(value)),
            Self::Seq(items) => View::Seq(items.iter().map(|item| item as &dyn Emit).collect()),
            Self::Map(entries) => {
                View::Map(entries.iter().map(|(key, item)| (atom(key), item as &dyn Emit)).collect())
            }
        }
    }
}

fn atom(value: &Value) -> Atom<'_> {
    match value {
        Value::Bool(flag) => Atom::Bool(*flag),
        Value::Int(number) => Atom::Int(*number),
        Value::BigInt(number) => Atom::BigInt(number),
        Value::Float(number) => Atom::Float(*number),
        Value::Str(text) => Atom::Str(text),
        _ => Atom::Null,
    }
}
