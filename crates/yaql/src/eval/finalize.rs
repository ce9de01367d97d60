//! Output conversion: lazy results walked to the end, every container within the limit.

use std::sync::Arc;

use super::resolve::Failure;
use super::{Cx, with_stack};
use crate::error::{Error, Result};
use crate::value::{Key, Map, Set, Value};

impl Cx<'_> {
    /// The result of an expression as its caller gets it.
    pub(super) fn finalize(&mut self, value: Value) -> Result<Value> {
        if matches!(value, Value::Omitted) {
            // An argument that was left out is none, to this step as to any other call.
            return Err(self.failure(Failure::NoMatch, "#finalize", None));
        }
        if self.options.convert_output_data { self.convert(value) } else { Ok(value) }
    }

    /// Converts a value with everything in it. A part that holds nothing but arrays, maps with
    /// plain keys and scalars stays shared as it is: whoever reads the output takes tuples for
    /// lists if the options say so.
    pub fn convert(&mut self, value: Value) -> Result<Value> {
        self.step()?;
        match value {
            Value::Tuple(ref seq) | Value::List(ref seq) if seq.meta().plain => {
                self.check_longest(seq.meta().longest)?;
                Ok(value)
            }
            Value::FrozenDict(ref map) | Value::Dict(ref map) if map.meta().plain => {
                self.check_longest(map.meta().longest)?;
                Ok(value)
            }
            Value::FrozenDict(map) | Value::Dict(map) => with_stack(|| self.convert_map(&map)),
            Value::Set(_) | Value::Keys(_) | Value::Items(_) => with_stack(|| self.convert_set(value)),
            Value::Tuple(_) if !self.options.convert_tuples_to_lists => {
                let items = with_stack(|| self.convert_items(value))?;
                self.tuple(items)
            }
            Value::Tuple(_) | Value::List(_) | Value::Values(_) | Value::Ordering(_) | Value::Iterator(_) => {
                let items = with_stack(|| self.convert_items(value))?;
                self.list(items)
            }
            other => Ok(other),
        }
    }

    fn check_longest(&self, longest: u32) -> Result<()> {
        match u32::try_from(self.options.limit_iterators) {
            Ok(limit) if longest > limit => Err(self.too_large()),
            _ => Ok(()),
        }
    }

    fn convert_items(&mut self, collection: Value) -> Result<Vec<Value>> {
        self.nested(|cx| {
            let mut source = cx.iterate(collection)?;
            let mut items = Vec::with_capacity(source.size_hint());
            while let Some(item) = source.next(cx)? {
                cx.charge(24)?;
                items.push(cx.convert(item)?);
            }
            Ok(items)
        })
    }

    fn convert_map(&mut self, map: &Arc<Map>) -> Result<Value> {
        self.nested(|cx| {
            cx.check_sized(&Value::Dict(map.clone()))?;
            let mut builder = Map::builder();
            for (key, value) in map.iter() {
                // The reference converts the value first, which shows when both fail.
                let value = cx.convert(value.clone())?;
                let key = cx.convert_key(key.clone())?;
                builder.insert_key(key, value);
            }
            cx.dict(builder)
        })
    }

    /// Keys and elements of sets must still be hashable when converted.
    fn convert_key(&mut self, key: Value) -> Result<Key> {
        let unhashable = match &key {
            Value::Tuple(_) if self.options.convert_tuples_to_lists => Some("list"),
            Value::FrozenDict(_) => Some("dict"),
            Value::Set(_) => Some(if self.options.convert_sets_to_lists { "list" } else { "set" }),
            Value::Values(_) | Value::Iterator(_) | Value::Ordering(_) => Some("list"),
            _ => None,
        };
        let key = self.convert(key)?;
        match unhashable.or_else(|| unhashable_part(&key)) {
            Some(kind) => Err(Box::new(Error::kind(format!("unhashable type: '{kind}'")))),
            None => Key::new(key),
        }
    }

    fn convert_set(&mut self, set: Value) -> Result<Value> {
        if self.options.convert_sets_to_lists {
            let items = self.convert_items(set)?;
            return self.list(items);
        }
        self.nested(|cx| {
            let mut source = cx.iterate(set)?;
            let mut keys = Vec::new();
            while let Some(item) = source.next(cx)? {
                keys.push(cx.convert_key(item)?);
            }
            Ok(Value::set(Set::from_keys(keys)))
        })
    }
}

/// The first part of a converted tuple that makes it unhashable; sets are, once converted.
fn unhashable_part(value: &Value) -> Option<&'static str> {
    match value {
        Value::Tuple(seq) => seq.iter().find_map(unhashable_part),
        Value::Set(_) => Some("set"),
        Value::FrozenDict(_) | Value::Dict(_) => Some("dict"),
        Value::List(_) => Some("list"),
        _ => None,
    }
}
