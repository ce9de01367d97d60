//! Evaluation: interprets the syntax tree within limits on steps, depth and memory.
//!
//! Every construct has two paths. The fast path handles common operand types directly; the slow path
//! (`Cx::slow`) goes through overload resolution. Both return the same results.

mod args;
mod bind;
mod budget;
mod call;
mod call_errors;
mod context;
mod defined;
mod expression;
mod finalize;
mod iter;
mod lambda;
mod make;
mod operation;
pub(crate) mod operators;
mod options;
mod ordering;
mod plain;
mod program;
mod reads;
mod resolve;
mod shortcuts;
pub mod suggest;

use std::collections::HashMap;
use std::sync::{Arc, Weak};

pub use args::{Arg, Args};
pub use context::{Ctx, DefinedFunction};
pub use expression::{Engine, Evaluation, Expression, Input};
pub use iter::{Cursor, IterCell, Lazy, LimitedCursor, iterator_of};
pub use lambda::{Callable, Lambda};
pub(crate) use operators::{index, property};
pub use options::{FixedHost, Host, Limits, Options};
pub use ordering::OrderingCell;
pub use program::Program;
pub(crate) use program::Site;
pub use reads::{ReadPath, ReadSet};
pub(crate) use resolve::{Resolved, resolve_paired, resolve_plain};

use crate::error::{Error, Result};
use crate::library::Library;
use crate::pyregex::{Flags, Regex};
use crate::syntax::{ArgNode, ArgRange, Node, NodeId};
use crate::value::{MapBuilder, Value};
use operation::{Operation, peek};
use shortcuts::short_call;

/// The state of an evaluation, passed to every function.
pub struct Cx<'h> {
    pub options: &'h Options,
    pub host: &'h dyn Host,
    library: Arc<Library>,
    budget: budget::Budget,
    /// Whether every operation must go through full overload resolution: a `def` or a library layer may
    /// redefine it, the memory quota is tiny, or an observer is attached.
    slow: bool,
    /// Patterns compiled in this evaluation.
    regexes: Option<Regexes>,
    /// Compiled bodies of functions written in YAQL, by source text.
    programs: Option<HashMap<Arc<str>, Arc<Program>>>,
    /// Number of nested iterators that are currently producing an element.
    pull_depth: u32,
    /// Orderings with several keys, released at the end of the evaluation.
    orderings: Vec<Weak<OrderingCell>>,
    /// Reusable buffer for string construction.
    pub(crate) scratch: String,
    /// The most recently used pattern: a one-entry cache in front of `regexes`.
    last_regex: Option<(Arc<str>, Flags, Arc<Regex>)>,
    /// Cached empty program, see `Cx::no_program`.
    empty_program: Option<Arc<Program>>,
    /// Notified of every evaluated node.
    observer: Option<&'h mut dyn Observer>,
}

type Regexes = HashMap<(Arc<str>, Flags), Arc<Regex>, foldhash::fast::RandomState>;

/// Receives the intermediate results of an evaluation.
pub trait Observer {
    /// Called after each evaluation of a node.
    fn evaluated(&mut self, program: &Program, node: NodeId, result: &Result<Value>);
}

/// Runs `work` with enough stack for another level of evaluation, allocating a new segment if necessary.
pub(crate) fn with_stack<R>(work: impl FnOnce() -> R) -> R {
    // Between two checks the recursion can be as deep as a syntax tree. Frames of unoptimized builds are
    // several times larger.
    const RED_ZONE_BYTES: usize = if cfg!(debug_assertions) { 3 << 20 } else { 512 << 10 };
    const SEGMENT_BYTES: usize = 4 * RED_ZONE_BYTES;
    stacker::maybe_grow(RED_ZONE_BYTES, SEGMENT_BYTES, work)
}

impl Cx<'_> {
    /// Evaluates a node.
    pub fn eval(&mut self, program: &Arc<Program>, id: NodeId, ctx: &Ctx) -> Result<Value> {
        self.step()?;
        if self.slow {
            return self.eval_slow(program, id, ctx);
        }
        let mut result = match program.tree.node(id) {
            Node::Const(index) | Node::Keyword(index) => return Ok(program.tree.constant(*index).clone()),
            Node::Dollar => return Ok(ctx.first().clone()),
            Node::Var(name) => return Ok(ctx.get(program.tree.name(*name)).clone()),
            Node::Paren(inner) => return self.eval(program, *inner, ctx),
            Node::Member { .. } => match peek(program, id, ctx) {
                Some(value) => return Ok(value.clone()),
                None => self.eval_node(program, id, ctx),
            },
            Node::Call { .. } | Node::Method { .. } | Node::Invoke { .. } => {
                return self.eval_call(program, id, ctx);
            }
            _ => self.eval_node(program, id, ctx),
        };
        if let Err(error) = &mut result {
            locate(error, program, id);
        }
        result
    }

    /// Evaluates a call. Only calls can recurse without bound: the depth of the tree itself is limited. The
    /// result is not destructured here, so that it is constructed in the caller's storage: moving it right
    /// after writing it causes a store-forwarding stall.
    fn eval_call(&mut self, program: &Arc<Program>, id: NodeId, ctx: &Ctx) -> Result<Value> {
        let mut result = match short_call(program, id) {
            Some(call) => self.shortcut(program, id, call, ctx),
            None => self.nested(|cx| with_stack(|| cx.eval_node(program, id, ctx))),
        };
        if let Err(error) = &mut result {
            locate(error, program, id);
        }
        result
    }

    /// Evaluates a node on the slow path and notifies the observer.
    fn eval_slow(&mut self, program: &Arc<Program>, id: NodeId, ctx: &Ctx) -> Result<Value> {
        let mut result = self.nested(|cx| with_stack(|| cx.eval_node(program, id, ctx)));
        if let Err(error) = &mut result {
            locate(error, program, id);
        }
        if let Some(observer) = &mut self.observer {
            observer.evaluated(program, id, &result);
        }
        result
    }

    fn eval_node(&mut self, program: &Arc<Program>, id: NodeId, ctx: &Ctx) -> Result<Value> {
        let tree = &program.tree;
        match tree.node(id) {
            Node::Const(index) | Node::Keyword(index) => Ok(tree.constant(*index).clone()),
            Node::Dollar | Node::Var(_) if self.redefined("#get_context_data", ctx) => {
                let name = Value::str(tree.text(tree.span(id)));
                self.call_values("#get_context_data", [name], ctx)
            }
            Node::Dollar => Ok(ctx.first().clone()),
            Node::Var(name) => Ok(ctx.get(tree.name(*name)).clone()),
            Node::Paren(inner) => self.eval(program, *inner, ctx),
            Node::List(args) => self.eval_list(program, id, *args, ctx),
            Node::Map(args) => self.eval_map(program, id, *args, ctx),
            Node::Unary(op, operand) => self.eval_unary(program, *op, *operand, ctx),
            Node::Binary(op, left, right) => {
                self.eval_binary(program, Operation { op: *op, left: *left, right: *right }, ctx)
            }
            Node::Member { receiver, key, hash, safe } => {
                let receiver_value = self.eval(program, *receiver, ctx)?;
                if *safe && receiver_value.is_null() && !self.redefined("#operator_?.", ctx) {
                    return Ok(Value::Null);
                }
                self.member(receiver_value, tree.text(*key), *hash, ctx)
            }
            Node::Method { receiver, args, safe, .. } => {
                let receiver_value = self.eval(program, *receiver, ctx)?;
                if *safe && receiver_value.is_null() && !self.redefined("#operator_?.", ctx) {
                    return Ok(Value::Null);
                }
                if self.slow && (self.redefined("#operator_.", ctx) || program.library.redefines_core()) {
                    return self.call_dot(program, id, receiver_value, ctx);
                }
                self.call_method(program, id, receiver_value, *args, ctx)
            }
            Node::BadDot { receiver, safe, .. } => {
                if *safe && self.eval(program, *receiver, ctx)?.is_null() {
                    return Ok(Value::Null);
                }
                Err(no_match("#operator_."))
            }
            Node::Index { receiver, args, .. } => self.eval_index(program, id, *receiver, *args, ctx),
            Node::Call { args, .. } => self.call_named(program, id, *args, ctx),
            Node::Invoke { callee, args, .. } => {
                self.call_operator(program, id, "#call", Some(*callee), *args, ctx)
            }
        }
    }

    fn eval_list(&mut self, program: &Arc<Program>, id: NodeId, args: ArgRange, ctx: &Ctx) -> Result<Value> {
        let slots = program.tree.arg_slice(args);
        let plain = slots.iter().all(|slot| !matches!(slot, ArgNode::Pair(..)));
        if !plain || (self.slow && self.redefined("#list", ctx)) {
            return self.call_operator(program, id, "#list", None, args, ctx);
        }
        let mut items = Vec::with_capacity(slots.len());
        for slot in slots {
            items.push(match slot {
                ArgNode::Positional(node) => self.eval(program, *node, ctx)?,
                _ => Value::Omitted,
            });
        }
        self.tuple(items)
    }

    fn eval_map(&mut self, program: &Arc<Program>, id: NodeId, args: ArgRange, ctx: &Ctx) -> Result<Value> {
        let slots = program.tree.arg_slice(args);
        let plain = slots.iter().all(|slot| matches!(slot, ArgNode::Pair(..)));
        if !plain || (self.slow && self.redefined("#map", ctx)) {
            return self.call_operator(program, id, "#map", None, args, ctx);
        }
        let mut builder = MapBuilder::with_capacity(slots.len());
        let mut unhashable = None;
        for slot in slots {
            let ArgNode::Pair(key, value) = slot else { continue };
            let key = self.eval(program, *key, ctx)?;
            let value = self.eval(program, *value, ctx)?;
            // As in Python YAQL, all keys and values are evaluated before an unhashable key is reported.
            if let Err(error) = builder.insert(key, value) {
                unhashable.get_or_insert(error);
            }
        }
        if let Some(error) = unhashable {
            return Err(error);
        }
        self.frozen_dict(builder)
    }

    /// Evaluates `receiver.key`.
    pub(crate) fn member(&mut self, receiver: Value, key: &str, hash: u64, ctx: &Ctx) -> Result<Value> {
        if self.slow {
            return self.call_member(receiver, key, ctx);
        }
        operators::member(self, receiver, key, hash, ctx)
    }

    /// Compiles an expression to be run as part of this evaluation; cached by source text.
    pub(crate) fn program_of(&mut self, source: &Arc<str>) -> Result<Arc<Program>> {
        if let Some(program) = self.programs.as_ref().and_then(|programs| programs.get(source)) {
            return Ok(program.clone());
        }
        self.steps(source.len() as u64)?;
        let tree = crate::syntax::parse(source, crate::syntax::Grammar::default())?;
        let program = Arc::new(Program::new(tree, self.library.clone()));
        self.programs.get_or_insert_default().insert(source.clone(), program.clone());
        Ok(program)
    }

    /// Registers a function defined by `def`. If it shadows another function it can change the meaning of any
    /// expression, so the slow path is taken from then on.
    pub(crate) fn register_definition(&mut self, name: &str) {
        self.slow |= name.starts_with(['#', '*']) || self.library.get(name).is_some();
    }

    fn track_ordering(&mut self, ordering: &Arc<OrderingCell>) {
        self.orderings.push(Arc::downgrade(ordering));
    }

    fn finish(&mut self) {
        for ordering in self.orderings.drain(..).filter_map(|ordering| ordering.upgrade()) {
            ordering.release();
        }
    }
}

/// Sets the span and source of an error, unless an inner node has already set them.
#[cold]
fn locate(error: &mut Error, program: &Program, id: NodeId) {
    if error.span.is_none() {
        error.span = Some(program.tree.span(id));
        error.source.get_or_insert_with(|| program.tree.source.clone());
    }
}

pub(crate) fn no_match(name: &str) -> Box<Error> {
    let message = format!("No function \"{name}\" matches supplied arguments");
    Box::new(Error::new(crate::error::ErrorClass::NoMatchingFunction, message))
}
