//! Contexts: chains of frames that hold variables and functions made by `def`.
//!
//! The reference makes a fresh context for every call; only those that something is put into can
//! be told apart, so only those exist here.

use std::sync::Arc;

use smallvec::SmallVec;

use super::program::Program;
use crate::error::{Error, ErrorClass, Result};
use crate::syntax::{NodeId, VarName};
use crate::value::{MAX_DEPTH, Value};

/// A place to look variables and functions up; cheap to clone.
#[derive(Clone, Debug)]
pub struct Ctx(Arc<Frame>);

#[derive(Debug)]
pub(super) struct Frame {
    /// What `$` is; [`Value::Omitted`] when this frame does not say.
    first: Value,
    /// All other variables.
    vars: SmallVec<[(VarName, Value); 1]>,
    parent: Option<Ctx>,
    /// What `def` made in this frame.
    function: Option<Box<DefinedFunction>>,
    /// How far dropping this frame may recurse: parents and the values in it.
    depth: u16,
    /// Whether this frame or one above it has functions.
    has_functions: bool,
}

/// A function made by `def`. Its closure is the frame it is found in, so frames hold no cycles.
#[derive(Clone, Debug)]
pub struct DefinedFunction {
    pub name: Arc<str>,
    pub program: Arc<Program>,
    pub body: NodeId,
}

static NULL: Value = Value::Null;

impl Ctx {
    /// A context without a parent.
    pub fn root(vars: impl IntoIterator<Item = (VarName, Value)>) -> Self {
        let (first, vars) = split_first(vars);
        Self(Arc::new(Frame { first, vars, parent: None, function: None, depth: 1, has_functions: false }))
    }

    /// A child that binds variables. An argument that was left out binds nothing.
    pub fn with_vars(&self, vars: impl IntoIterator<Item = (VarName, Value)>) -> Result<Self> {
        let (first, vars) = split_first(vars);
        let deepest = vars.iter().map(|(_, value)| value.depth()).max().unwrap_or(0).max(first.depth());
        let depth = deeper(deepest.max(self.0.depth))?;
        let has_functions = self.0.has_functions;
        Ok(Self(Arc::new(Frame {
            first,
            vars,
            parent: Some(self.clone()),
            function: None,
            depth,
            has_functions,
        })))
    }

    /// A child in which `$` is the given value.
    pub fn with_first(&self, first: Value) -> Result<Self> {
        let depth = deeper(first.depth().max(self.0.depth))?;
        let has_functions = self.0.has_functions;
        let vars = SmallVec::new();
        Ok(Self(Arc::new(Frame {
            first,
            vars,
            parent: Some(self.clone()),
            function: None,
            depth,
            has_functions,
        })))
    }

    /// A child that knows one more function.
    pub fn with_function(&self, function: DefinedFunction) -> Result<Self> {
        Ok(Self(Arc::new(Frame {
            first: Value::Omitted,
            vars: SmallVec::new(),
            parent: Some(self.clone()),
            function: Some(Box::new(function)),
            depth: deeper(self.0.depth)?,
            has_functions: true,
        })))
    }

    /// Puts another value for `$` into a frame made by [`Ctx::with_first`] that nobody else holds.
    /// Says whether that was possible.
    pub(super) fn reuse_first(&mut self, value: &mut Value) -> Result<bool> {
        let Some(frame) = Arc::get_mut(&mut self.0).filter(|frame| frame.vars.is_empty()) else {
            return Ok(false);
        };
        let parent = frame.parent.as_ref().map_or(0, |parent| parent.0.depth);
        frame.depth = deeper(value.depth().max(parent))?;
        std::mem::swap(&mut frame.first, value);
        Ok(true)
    }

    /// Puts other values for `$1` and `$2` into a frame made for two that nobody else holds. Says
    /// whether that was possible.
    pub(super) fn reuse_two(&mut self, first: &mut Value, second: &mut Value) -> Result<bool> {
        let Some(frame) = Arc::get_mut(&mut self.0) else { return Ok(false) };
        let [(_, slot)] = &mut frame.vars[..] else { return Ok(false) };
        if matches!((&*first, &*second), (Value::Omitted, _) | (_, Value::Omitted)) {
            return Ok(false);
        }
        let parent = frame.parent.as_ref().map_or(0, |parent| parent.0.depth);
        frame.depth = deeper(first.depth().max(second.depth()).max(parent))?;
        std::mem::swap(&mut frame.first, first);
        std::mem::swap(slot, second);
        Ok(true)
    }

    /// The value of `$`.
    #[inline]
    pub fn first(&self) -> &Value {
        let mut frame = &*self.0;
        while matches!(frame.first, Value::Omitted) {
            match &frame.parent {
                Some(parent) => frame = &parent.0,
                None => return &NULL,
            }
        }
        &frame.first
    }

    /// The value of a variable; null when there is none.
    pub fn get(&self, name: &VarName) -> &Value {
        if *name == VarName::FIRST {
            return self.first();
        }
        let mut frame = &*self.0;
        loop {
            if let Some((_, value)) = frame.vars.iter().rev().find(|(known, _)| known == name) {
                return value;
            }
            match &frame.parent {
                Some(parent) => frame = &parent.0,
                None => return &NULL,
            }
        }
    }

    /// The innermost function of that name with the context it closes over.
    pub fn function(&self, name: &str) -> Option<(&DefinedFunction, &Ctx)> {
        let mut ctx = self;
        loop {
            let frame = &*ctx.0;
            if !frame.has_functions {
                return None;
            }
            if let Some(function) = frame.function.as_ref().filter(|function| *function.name == *name) {
                return Some((function, ctx));
            }
            ctx = frame.parent.as_ref()?;
        }
    }

    /// Every function of that name, innermost first.
    pub fn functions(&self, name: &str) -> Vec<(DefinedFunction, Ctx)> {
        let mut found = Vec::new();
        let mut ctx = Some(self);
        while let Some((function, closure)) = ctx.and_then(|ctx| ctx.function(name)) {
            found.push((function.clone(), closure.clone()));
            ctx = closure.0.parent.as_ref();
        }
        found
    }

    /// Variables of the outermost frame that no expression can name (`%…`): what an embedding program knows beside
    /// the data. Functions written in the language see them too, as built-in ones do.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = (VarName, Value)> {
        let mut frame = &*self.0;
        while let Some(parent) = &frame.parent {
            frame = &parent.0;
        }
        let is_hidden = |name: &VarName| matches!(name, VarName::Named(name) if name.starts_with('%'));
        frame.vars.iter().filter(move |(name, _)| is_hidden(name)).cloned()
    }

    pub fn depth(&self) -> u16 {
        self.0.depth
    }

    /// Tells contexts apart.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Names of all functions in reach that `def` made, for suggestions.
    pub(super) fn function_names(&self) -> Vec<Arc<str>> {
        let mut names = Vec::new();
        let mut ctx = Some(self);
        while let Some(current) = ctx {
            names.extend(current.0.function.iter().map(|function| function.name.clone()));
            ctx = current.0.parent.as_ref();
        }
        names
    }
}

/// Sets `$` apart from all other variables, and drops what was left out.
fn split_first(vars: impl IntoIterator<Item = (VarName, Value)>) -> (Value, SmallVec<[(VarName, Value); 1]>) {
    let mut first = Value::Omitted;
    let mut others = SmallVec::new();
    for (name, value) in vars {
        match (name, value) {
            (_, Value::Omitted) => {}
            (VarName::FIRST, value) => first = value,
            other => others.push(other),
        }
    }
    (first, others)
}

/// One more level, unless that is one too many.
pub(super) fn deeper(depth: u16) -> Result<u16> {
    if depth >= MAX_DEPTH {
        return Err(recursion_error());
    }
    Ok(depth + 1)
}

pub(super) fn recursion_error() -> Box<Error> {
    Box::new(Error::new(ErrorClass::Recursion, "maximum recursion depth exceeded"))
}
