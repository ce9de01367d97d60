//! Contexts: chains of frames with variables and functions defined by `def`.
//!
//! Python YAQL creates a context for every call. A frame exists here only if a variable or function is
//! stored in it; expressions cannot observe the difference.

use std::sync::Arc;

use smallvec::SmallVec;

use super::program::Program;
use crate::error::{Error, ErrorClass, Result};
use crate::syntax::{NodeId, VarName};
use crate::value::{MAX_DEPTH, Value};

/// A scope for variables and functions; cheap to clone.
#[derive(Clone, Debug)]
pub struct Ctx(Arc<Frame>);

type Vars = SmallVec<[(VarName, Value); 1]>;

#[derive(Debug)]
pub(super) struct Frame {
    /// The value of `$`; [`Value::Omitted`] if this frame does not bind it.
    first: Value,
    /// All variables except `$`.
    vars: Vars,
    parent: Option<Ctx>,
    /// The function that `def` registered in this frame.
    function: Option<Box<DefinedFunction>>,
    /// Recursion depth of dropping this frame, over its parents and values.
    depth: u16,
    /// Whether this frame or an ancestor holds a function.
    has_functions: bool,
}

/// A function defined by `def`. Its closure is the frame that contains it and is not stored here, so frames
/// form no reference cycles.
#[derive(Clone, Debug)]
pub struct DefinedFunction {
    pub name: Arc<str>,
    pub program: Arc<Program>,
    pub body: NodeId,
}

static NULL: Value = Value::Null;

impl Ctx {
    /// Creates a context without a parent.
    pub fn root(vars: impl IntoIterator<Item = (VarName, Value)>) -> Self {
        let (first, vars) = split_first(vars);
        Self(Arc::new(Frame { first, vars, parent: None, function: None, depth: 1, has_functions: false }))
    }

    /// Creates a child that binds variables. [`Value::Omitted`] binds nothing.
    pub fn with_vars(&self, vars: impl IntoIterator<Item = (VarName, Value)>) -> Result<Self> {
        let (first, vars) = split_first(vars);
        let deepest = vars.iter().map(|(_, value)| value.depth()).max().unwrap_or(0).max(first.depth());
        let depth = deeper(deepest.max(self.0.depth))?;
        Ok(self.child(first, vars, depth))
    }

    /// Creates a child that binds `$`.
    pub fn with_first(&self, first: Value) -> Result<Self> {
        let depth = deeper(first.depth().max(self.0.depth))?;
        Ok(self.child(first, SmallVec::new(), depth))
    }

    #[inline]
    fn child(&self, first: Value, vars: Vars, depth: u16) -> Self {
        let has_functions = self.0.has_functions;
        Self(Arc::new(Frame {
            first,
            vars,
            parent: Some(self.clone()),
            function: None,
            depth,
            has_functions,
        }))
    }

    /// Creates a child that defines one function.
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

    /// Replaces `$` in a frame created by [`Ctx::with_first`], if this is the only reference to it. Swaps the
    /// old value into `value` and reports whether the frame was reused.
    pub(super) fn reuse_first(&mut self, value: &mut Value) -> Result<bool> {
        let Some(frame) = Arc::get_mut(&mut self.0).filter(|frame| frame.vars.is_empty()) else {
            return Ok(false);
        };
        let parent = frame.parent.as_ref().map_or(0, |parent| parent.0.depth);
        frame.depth = deeper(value.depth().max(parent))?;
        std::mem::swap(&mut frame.first, value);
        Ok(true)
    }

    /// Replaces `$1` and `$2` in a frame that binds both, if this is the only reference to it. Swaps the old
    /// values into the arguments and reports whether the frame was reused.
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

    /// Returns the value of `$`.
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

    /// Returns the value of a variable; null if it is not bound.
    pub fn get(&self, name: &VarName) -> &Value {
        if *name == VarName::FIRST {
            return self.first();
        }
        let mut frame = &*self.0;
        loop {
            if let Some((_, value)) = frame.vars.iter().rev().find(|(bound_name, _)| bound_name == name) {
                return value;
            }
            match &frame.parent {
                Some(parent) => frame = &parent.0,
                None => return &NULL,
            }
        }
    }

    /// Returns the innermost function of that name and the context it closes over.
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

    /// Returns every function of that name, innermost first.
    pub fn functions(&self, name: &str) -> Vec<(DefinedFunction, Ctx)> {
        let mut functions = Vec::new();
        let mut ctx = Some(self);
        while let Some((function, closure)) = ctx.and_then(|ctx| ctx.function(name)) {
            functions.push((function.clone(), closure.clone()));
            ctx = closure.0.parent.as_ref();
        }
        functions
    }

    /// Returns the hidden variables of the outermost frame. Their names start with `%`, so no expression can
    /// refer to them; an embedding program uses them to pass data to built-in functions. Helpers written in
    /// YAQL inherit them.
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

    /// Returns the address of the frame, which identifies the context.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the names of all visible functions defined by `def`, for suggestions.
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

/// Separates `$` from the other variables and drops optional arguments that were not passed.
fn split_first(vars: impl IntoIterator<Item = (VarName, Value)>) -> (Value, Vars) {
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

/// Returns `depth + 1`. Fails with a recursion error at [`MAX_DEPTH`].
pub(super) fn deeper(depth: u16) -> Result<u16> {
    if depth >= MAX_DEPTH {
        return Err(recursion_error());
    }
    Ok(depth + 1)
}

pub(super) fn recursion_error() -> Box<Error> {
    Box::new(Error::new(ErrorClass::Recursion, "maximum recursion depth exceeded"))
}
