//! Evaluation: a walk over the tree that is bounded in every direction.

mod args;
mod bind;
mod budget;
mod call;
mod context;
mod expression;
mod finalize;
mod iter;
mod lambda;
mod make;
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
pub use iter::{Cursor, IterCell, Lazy, Limited, iterator_of};
pub use lambda::{Callable, Lambda};
pub(crate) use operators::{index, property};
pub use options::{FixedHost, Host, Limits, Options};
pub use ordering::OrderingCell;
pub use program::Program;
pub(crate) use program::Site;
pub use reads::{ReadPath, Reads};
pub(crate) use resolve::{Resolved, resolve_paired, resolve_plain};

use crate::error::{Error, Result};
use crate::library::Library;
use crate::pyregex::{Flags, Regex};
use crate::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, UnaryOp};
use crate::value::{MapBuilder, StrKey, Value};
use shortcuts::short_call;

/// One evaluation in progress: what functions get to work with.
pub struct Cx<'h> {
    pub options: &'h Options,
    pub host: &'h dyn Host,
    library: Arc<Library>,
    budget: budget::Budget,
    /// Whether every operation has to go through full overload resolution, because a `def`, a
    /// library layer or a tiny quota could make a difference, or because somebody watches.
    slow: bool,
    /// Patterns compiled in this evaluation.
    regexes: Option<Regexes>,
    /// Bodies of functions that are written in the language, ready to run.
    programs: Option<HashMap<Arc<str>, Arc<Program>>>,
    /// How many iterators are being asked for an element, one by the other.
    pulls: u32,
    /// Orderings with several keys, to be let go of at the end.
    orderings: Vec<Weak<OrderingCell>>,
    /// Text under construction: results are copied out of it in one piece.
    pub(crate) scratch: String,
    /// The pattern that was used last; in a loop it is always the same one.
    last_regex: Option<(Arc<str>, Flags, Arc<Regex>)>,
    /// An empty program, once one was needed.
    nothing: Option<Arc<Program>>,
    /// Told about every value computed.
    observer: Option<&'h mut dyn Observer>,
}

type Regexes = HashMap<(Arc<str>, Flags), Arc<Regex>, foldhash::fast::RandomState>;

/// Somebody who watches an evaluation.
pub trait Observer {
    /// A node of the expression has been evaluated.
    fn evaluated(&mut self, program: &Program, node: NodeId, result: &Result<Value>);
}

/// Runs with enough stack for another level of evaluation.
pub(crate) fn with_stack<R>(work: impl FnOnce() -> R) -> R {
    // Between two checks there may be as many levels as a tree can have; without optimisation
    // each of them takes several times the space.
    const RED_ZONE_BYTES: usize = if cfg!(debug_assertions) { 3 << 20 } else { 512 << 10 };
    const SEGMENT_BYTES: usize = 4 * RED_ZONE_BYTES;
    stacker::maybe_grow(RED_ZONE_BYTES, SEGMENT_BYTES, work)
}

impl Cx<'_> {
    /// Evaluates a node.
    pub fn eval(&mut self, program: &Arc<Program>, id: NodeId, ctx: &Ctx) -> Result<Value> {
        self.step()?;
        if self.slow {
            return self.eval_watched(program, id, ctx);
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

    /// Evaluates a call. Only calls can lead to unbounded recursion: the depth of the tree itself
    /// is limited. The result is not taken apart here but stays where the caller wants it: moving
    /// what has just been written stalls the processor.
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

    /// Whether a node is true, without making a value of that where it is not needed.
    pub(crate) fn test(&mut self, program: &Arc<Program>, id: NodeId, ctx: &Ctx) -> Result<bool> {
        if self.slow {
            return Ok(self.eval(program, id, ctx)?.is_true());
        }
        match *program.tree.node(id) {
            Node::Binary(BinaryOp::And, left, right) => {
                Ok(self.test(program, left, ctx)? && self.test(program, right, ctx)?)
            }
            Node::Binary(BinaryOp::Or, left, right) => {
                Ok(self.test(program, left, ctx)? || self.test(program, right, ctx)?)
            }
            Node::Unary(UnaryOp::Not, operand) => Ok(!self.test(program, operand, ctx)?),
            Node::Paren(inner) => self.test(program, inner, ctx),
            Node::Binary(op, left, right) if op.is_test() => {
                let mut result = self.test_binary(program, op, left, right, ctx);
                if let Err(error) = &mut result {
                    locate(error, program, id);
                }
                result
            }
            _ => match peek(program, id, ctx) {
                Some(value) => Ok(value.is_true()),
                None => Ok(self.eval(program, id, ctx)?.is_true()),
            },
        }
    }

    fn test_binary(
        &mut self,
        program: &Arc<Program>,
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
        ctx: &Ctx,
    ) -> Result<bool> {
        let sides = (op, left, right);
        let a = self.operand(program, left, ctx).map_err(|error| self.excuse(program, sides, error))?;
        let b = self.operand(program, right, ctx).map_err(|error| self.excuse(program, sides, error))?;
        match operators::test(self, op, a.get(), b.get()) {
            Some(result) => result,
            None => match program.binary_failure(op, left, right) {
                Some(failure) => Err(self.failure(failure, op.function(), None)),
                None => Ok(self.operator(op, a.into_value(), b.into_value(), ctx)?.is_true()),
            },
        }
    }

    /// The same with nothing taken for granted, and with somebody who may be watching.
    fn eval_watched(&mut self, program: &Arc<Program>, id: NodeId, ctx: &Ctx) -> Result<Value> {
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
            Node::Binary(op, left, right) => self.eval_binary(program, *op, *left, *right, ctx),
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
            // What is wrong with a key is said only after all keys and values are there.
            if let Err(error) = builder.insert(key, value) {
                unhashable.get_or_insert(error);
            }
        }
        if let Some(error) = unhashable {
            return Err(error);
        }
        self.frozen_dict(builder)
    }

    fn eval_unary(
        &mut self,
        program: &Arc<Program>,
        op: UnaryOp,
        operand: NodeId,
        ctx: &Ctx,
    ) -> Result<Value> {
        if let Some(failure) = program.unary_failure(op, operand)
            && !self.redefined(op.function(), ctx)
        {
            return Err(self.failure(failure, op.function(), None));
        }
        let value = self.eval(program, operand, ctx)?;
        if !self.slow && op == UnaryOp::Not {
            return Ok(Value::Bool(!value.is_true()));
        }
        if !self.slow
            && op == UnaryOp::Minus
            && let Value::Int(number) = value
            && let Some(negative) = number.checked_neg()
        {
            return Ok(Value::Int(negative));
        }
        self.call_values(op.function(), [value], ctx)
    }

    fn eval_binary(
        &mut self,
        program: &Arc<Program>,
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
        ctx: &Ctx,
    ) -> Result<Value> {
        if self.slow && (self.redefined(op.function(), ctx) || op == BinaryOp::Pair) {
            return self.call_binary(program, op, left, right, ctx);
        }
        if (self.slow || op == BinaryOp::Arrow)
            && let Some(failure) = program.binary_failure(op, left, right)
        {
            return Err(self.failure(failure, op.function(), None));
        }
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let value = self.eval(program, left, ctx)?;
                if value.is_true() == (op == BinaryOp::And) {
                    self.eval(program, right, ctx)
                } else {
                    Ok(value)
                }
            }
            BinaryOp::Arrow => match self.eval(program, left, ctx)? {
                Value::Context(inner) => self.eval(program, right, &inner),
                _ => Err(no_match(op.function())),
            },
            _ if self.slow => {
                let a = self.eval(program, left, ctx)?;
                let b = self.eval(program, right, ctx)?;
                self.operator(op, a, b, ctx)
            }
            _ => self.fast_binary(program, op, left, right, ctx),
        }
    }

    /// An operator on operands that are looked at where they are, if that is possible.
    fn fast_binary(
        &mut self,
        program: &Arc<Program>,
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
        ctx: &Ctx,
    ) -> Result<Value> {
        let sides = (op, left, right);
        let a = self.operand(program, left, ctx).map_err(|error| self.excuse(program, sides, error))?;
        let b = self.operand(program, right, ctx).map_err(|error| self.excuse(program, sides, error))?;
        if let Some(result) = operators::scalar(self, op, a.get(), b.get()) {
            return result;
        }
        if let Some(failure) = program.binary_failure(op, left, right) {
            return Err(self.failure(failure, op.function(), None));
        }
        self.operator(op, a.into_value(), b.into_value(), ctx)
    }

    /// The error of an operator one of whose operands failed. A constant may have ruled the
    /// operator out before any operand was looked at; nearly always nothing is wrong, so that is
    /// asked only afterwards.
    #[cold]
    fn excuse(
        &self,
        program: &Program,
        (op, left, right): (BinaryOp, NodeId, NodeId),
        error: Box<Error>,
    ) -> Box<Error> {
        match program.binary_failure(op, left, right) {
            Some(failure) => self.failure(failure, op.function(), None),
            None => error,
        }
    }

    #[inline]
    fn operand<'a>(&mut self, program: &'a Arc<Program>, id: NodeId, ctx: &'a Ctx) -> Result<Operand<'a>> {
        self.step()?;
        match peek(program, id, ctx) {
            Some(value) => Ok(Operand::Borrowed(value)),
            None => Ok(Operand::Owned(self.eval(program, id, ctx)?)),
        }
    }

    fn eval_index(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        receiver: NodeId,
        args: ArgRange,
        ctx: &Ctx,
    ) -> Result<Value> {
        if let ([ArgNode::Positional(index)], false) = (program.tree.arg_slice(args), self.slow) {
            let Node::Index { site, .. } = program.tree.node(id) else { return Ok(Value::Null) };
            if matches!(program.site(id, *site), Site::Resolved(..)) {
                let receiver = self.operand(program, receiver, ctx)?;
                let index = self.operand(program, *index, ctx)?;
                if let Some(result) = operators::simple_index(receiver.get(), index.get()) {
                    return result;
                }
                return self.call_values("#indexer", [receiver.into_value(), index.into_value()], ctx);
            }
        }
        self.call_operator(program, id, "#indexer", Some(receiver), args, ctx)
    }

    /// `receiver.key`
    pub(crate) fn member(&mut self, receiver: Value, key: &str, hash: u64, ctx: &Ctx) -> Result<Value> {
        if self.slow {
            return self.call_member(receiver, key, ctx);
        }
        operators::member(self, receiver, key, hash, ctx)
    }

    /// An expression to be evaluated as part of this evaluation, compiled once.
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

    /// Takes note of a new function made by `def`. One that has the name of another can change
    /// what any expression means, so from then on nothing is taken for granted.
    pub(crate) fn note_definition(&mut self, name: &str) {
        self.slow |= name.starts_with(['#', '*']) || self.library.get(name).is_some();
    }

    fn remember_ordering(&mut self, ordering: &Arc<OrderingCell>) {
        self.orderings.push(Arc::downgrade(ordering));
    }

    fn finish(&mut self) {
        for ordering in self.orderings.drain(..).filter_map(|ordering| ordering.upgrade()) {
            ordering.release();
        }
    }
}

/// A value that is already there, or one that had to be computed.
#[repr(u64)]
enum Operand<'a> {
    Borrowed(&'a Value),
    Owned(Value),
}

impl Operand<'_> {
    fn get(&self) -> &Value {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Borrowed(value) => value.clone(),
            Self::Owned(value) => value,
        }
    }
}

/// Finds the value of a constant, a variable or a path through maps where it lies. Anything that
/// needs computing, or fails, is left to [`Cx::eval`].
#[inline]
fn peek<'a>(program: &'a Program, id: NodeId, ctx: &'a Ctx) -> Option<&'a Value> {
    match program.tree.node(id) {
        Node::Const(index) | Node::Keyword(index) => Some(program.tree.constant(*index)),
        Node::Dollar => Some(ctx.first()),
        Node::Var(name) => Some(ctx.get(program.tree.name(*name))),
        Node::Member { receiver, key, hash, .. } => {
            let receiver = match program.tree.node(*receiver) {
                Node::Dollar => ctx.first(),
                _ => peek(program, *receiver, ctx)?,
            };
            program.member(id, receiver.as_map()?, &StrKey { text: program.tree.bytes(*key), hash: *hash })
        }
        _ => None,
    }
}

/// Says where an error happened, unless that is known already.
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
