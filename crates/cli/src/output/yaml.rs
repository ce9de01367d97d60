//! YAML serializer of YAQL values.

use stoker_yaml::emit::{self, Atom, Emit, NodeView};
use stoker_yaql::json::{self, WriteOptions};
use stoker_yaql::value::Map;
use stoker_yaql::{Options, Result, Value};

/// Maximum size of a result as JSON: its tree takes a multiple of that in memory.
const BYTES_MAX: usize = 64 << 20;

pub(super) fn to_yaml(value: &Value, options: &Options) -> Result<String> {
    // The JSON writer checks the size limit and the length of numbers for both formats.
    json::write(value, &WriteOptions { bytes_max: BYTES_MAX, ..WriteOptions::default() })?;
    Ok(emit::to_yaml(&Tree::new(value, options.convert_tuples_to_lists)?))
}

/// A value with expanded tags, from which the emitter borrows.
enum Tree {
    /// A scalar type that YAML has too.
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

    /// Renders types that YAML lacks in the same tagged form as in JSON.
    fn tagged(value: &Value, tuples_as_arrays: bool) -> Result<Self> {
        let text = json::write(value, &WriteOptions { tuples_as_arrays, ..WriteOptions::default() })?;
        let parsed =
            json::parse(&text).map_err(|error| Box::new(stoker_yaql::Error::value(error.message)))?;
        Self::plain(&parsed)
    }

    /// Converts tagged JSON; here `$yaql` is an ordinary key.
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
    fn view(&self) -> NodeView<'_> {
        match self {
            Self::Scalar(value) => NodeView::Atom(atom(value)),
            Self::Seq(items) => NodeView::Seq(items.iter().map(|item| item as &dyn Emit).collect()),
            Self::Map(entries) => {
                NodeView::Map(entries.iter().map(|(key, item)| (atom(key), item as &dyn Emit)).collect())
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
