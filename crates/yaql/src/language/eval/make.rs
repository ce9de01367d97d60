//! Constructors that charge values to the budget of an evaluation.

use std::sync::Arc;

use super::{Cx, context};
use crate::error::Result;
use crate::pyregex::{Flags, Regex};
use crate::value::{MapBuilder, Value};

impl Cx<'_> {
    /// Creates a tuple.
    pub fn tuple(&mut self, items: Vec<Value>) -> Result<Value> {
        self.charge(48 + 24 * items.len() as u64)?;
        Self::check_depth(Value::tuple(items))
    }

    pub fn list(&mut self, items: Vec<Value>) -> Result<Value> {
        self.charge(48 + 24 * items.len() as u64)?;
        Self::check_depth(Value::list(items))
    }

    pub fn frozen_dict(&mut self, builder: MapBuilder) -> Result<Value> {
        self.charge(96 + 64 * builder.len() as u64)?;
        Self::check_depth(Value::frozen_dict(builder.build()))
    }

    pub fn dict(&mut self, builder: MapBuilder) -> Result<Value> {
        self.charge(96 + 64 * builder.len() as u64)?;
        Self::check_depth(Value::dict(builder.build()))
    }

    /// Creates a set. Fails if an element is unhashable.
    pub fn set(&mut self, items: impl IntoIterator<Item = Value>) -> Result<Value> {
        let set = crate::value::Set::from_values(items)?;
        self.charge(96 + 40 * set.len() as u64)?;
        Self::check_depth(Value::set(set))
    }

    /// Creates a string.
    pub fn text(&mut self, text: impl Into<Arc<str>>) -> Result<Value> {
        let text = text.into();
        self.charge(24 + text.len() as u64)?;
        Ok(Value::Str(text))
    }

    fn check_depth(value: Value) -> Result<Value> {
        if value.depth() > crate::value::MAX_DEPTH {
            return Err(context::recursion_error());
        }
        Ok(value)
    }

    /// Returns a compiled pattern, from the cache of this evaluation if possible.
    pub fn regex(&mut self, pattern: &Arc<str>, flags: Flags) -> Result<Arc<Regex>> {
        if let Some((last_pattern, last_flags, regex)) = &self.last_regex
            && Arc::ptr_eq(last_pattern, pattern)
            && *last_flags == flags
        {
            return Ok(regex.clone());
        }
        let regex = self.cached_regex(pattern, flags)?;
        self.last_regex = Some((pattern.clone(), flags, regex.clone()));
        Ok(regex)
    }

    fn cached_regex(&mut self, pattern: &Arc<str>, flags: Flags) -> Result<Arc<Regex>> {
        const CACHE_MAX: usize = 100;
        let key = (pattern.clone(), flags);
        if let Some(regex) = self.regexes.as_ref().and_then(|regexes| regexes.get(&key)) {
            return Ok(regex.clone());
        }
        // Compilation is slow compared with a step, and the compiled pattern is large.
        self.steps(1000 + 20 * pattern.len() as u64)?;
        self.charge(4096 + 64 * pattern.len() as u64)?;
        let regex = Arc::new(Regex::new(pattern, flags)?);
        let regexes = self.regexes.get_or_insert_default();
        if regexes.len() >= CACHE_MAX {
            regexes.clear();
        }
        regexes.insert(key, regex.clone());
        Ok(regex)
    }
}
