//! Making values within the budget of an evaluation.

use std::sync::Arc;

use super::{Cx, context};
use crate::error::Result;
use crate::pyregex::{Flags, Regex};
use crate::value::{MapBuilder, Value};

impl Cx<'_> {
    /// Makes a tuple, within the budget.
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

    /// A set of the given elements; an unhashable one is an error.
    pub fn set(&mut self, items: impl IntoIterator<Item = Value>) -> Result<Value> {
        let set = crate::value::Set::from_values(items)?;
        self.charge(96 + 40 * set.len() as u64)?;
        Self::check_depth(Value::set(set))
    }

    /// Makes a string, within the budget.
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

    /// A pattern, compiled once per evaluation unless there are very many.
    pub fn regex(&mut self, pattern: &Arc<str>, flags: Flags) -> Result<Arc<Regex>> {
        if let Some((known, known_flags, regex)) = &self.last_regex
            && Arc::ptr_eq(known, pattern)
            && *known_flags == flags
        {
            return Ok(regex.clone());
        }
        let regex = self.kept_regex(pattern, flags)?;
        self.last_regex = Some((pattern.clone(), flags, regex.clone()));
        Ok(regex)
    }

    fn kept_regex(&mut self, pattern: &Arc<str>, flags: Flags) -> Result<Arc<Regex>> {
        const KEPT_MAX: usize = 100;
        let key = (pattern.clone(), flags);
        if let Some(regex) = self.regexes.as_ref().and_then(|regexes| regexes.get(&key)) {
            return Ok(regex.clone());
        }
        // Compiling is slow by the measure of a step, and the result is large.
        self.steps(1000 + 20 * pattern.len() as u64)?;
        self.charge(4096 + 64 * pattern.len() as u64)?;
        let regex = Arc::new(Regex::new(pattern, flags)?);
        let regexes = self.regexes.get_or_insert_default();
        if regexes.len() >= KEPT_MAX {
            regexes.clear();
        }
        regexes.insert(key, regex.clone());
        Ok(regex)
    }
}
