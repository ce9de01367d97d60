//! Output conversion: consumes lazy results and checks containers against the iterator limit.

use std::sync::Arc;

use super::resolve::Failure;
use super::{Cx, with_stack};
use crate::error::{Error, Result};
use crate::value::{Key, Map, Set, Value};

impl Cx<'_> {
    /// Converts the result of an expression to its output form.
    pub(super) fn finalize(&mut self, value: Value) -> Result<Value> {
        if matches!(value, Value::Omitted) {
            // Python YAQL treats this step as a call, and an omitted argument matches no overload.
            return Err(self.failure(Failure::NoMatch, "#finalize", None));
        }
        if self.options.convert_output_data { self.convert(value) } else { Ok(value) }
    }

    /// Converts a value recursively. A container of arrays, maps with plain keys and scalars only is returned
    /// unchanged and stays shared; consumers of the output treat its tuples as lists if the options require
    /// it.
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
                // Python YAQL converts the value before the key, which determines the error if both fail.
                let value = cx.convert(value.clone())?;
                let key = cx.convert_key(key.clone())?;
                builder.insert_key(key, value);
            }
            cx.dict(builder)
        })
    }

    /// Converts a map key or set element, which must still be hashable after conversion.
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

/// Returns the type of the first unhashable part of a converted tuple. Converted sets are unhashable.
fn unhashable_part(value: &Value) -> Option<&'static str> {
    match value {
        Value::Tuple(seq) => seq.iter().find_map(unhashable_part),
        Value::Set(_) => Some("set"),
        Value::FrozenDict(_) | Value::Dict(_) => Some("dict"),
        Value::List(_) => Some("list"),
        _ => None,
    }
}
