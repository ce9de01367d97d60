//! Shortcuts: direct implementations of the most frequently used functions for common operand types, without
//! binding arguments. Operands are borrowed where possible.
//!
//! Each returns the same result as the function itself. Other operand types fall back to the regular call,
//! with the operands evaluated so far.

use std::sync::Arc;

use smallvec::SmallVec;

use super::operation::{Operand, peek};
use super::{Arg, Args, Ctx, Cx, Program, Site, with_stack};
use crate::error::Result;
use crate::pyregex::Flags;
use crate::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId};
use crate::value::Value;

/// A function with a direct implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortcut {
    All,
    Any,
    Concat,
    Get,
    Len,
    Matches,
    Max,
    Min,
    Str,
}

impl Shortcut {
    /// Looks up a shortcut by name, call style and number of arguments including the receiver.
    pub(super) fn of(name: &str, method: bool, arguments: usize) -> Option<Self> {
        Some(match (name, method, arguments) {
            ("all", true, 2) => Self::All,
            ("any", true, 2) => Self::Any,
            ("concat", false, 2..=8) => Self::Concat,
            ("get", true, 2 | 3) => Self::Get,
            ("len", _, 1) => Self::Len,
            ("matches", true, 2) => Self::Matches,
            ("max", false, 2) => Self::Max,
            ("min", false, 2) => Self::Min,
            ("str", false, 1) => Self::Str,
            _ => return None,
        })
    }
}

/// A call that has a shortcut.
#[derive(Clone, Copy)]
pub(super) struct ShortCall {
    shortcut: Shortcut,
    receiver: Option<NodeId>,
    args: ArgRange,
}

/// Returns the shortcut for the call at a node, if there is one.
#[inline]
pub(super) fn short_call(program: &Program, id: NodeId) -> Option<ShortCall> {
    let (receiver, args, site) = match *program.tree.node(id) {
        Node::Method { receiver, args, site, safe: false, .. } => (Some(receiver), args, site),
        Node::Call { args, site, .. } => (None, args, site),
        _ => return None,
    };
    match program.site(id, site) {
        Site::Resolved(_, Some(shortcut)) => Some(ShortCall { shortcut: *shortcut, receiver, args }),
        _ => None,
    }
}

type Operands<'a> = SmallVec<[Operand<'a>; 4]>;

impl Cx<'_> {
    /// Evaluates a call through its shortcut.
    #[inline]
    pub(super) fn shortcut(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        call: ShortCall,
        ctx: &Ctx,
    ) -> Result<Value> {
        let ShortCall { shortcut, receiver, args } = call;
        let slots = program.tree.arg_slice(args);
        let mut operands = Operands::new();
        if let Some(receiver) = receiver {
            self.push_operand(&mut operands, program, receiver, ctx)?;
            let receiver = operands[0].get();
            if !shortcut.fits_receiver(receiver) {
                let receiver = operands.remove(0).into_value();
                return self.nested(|cx| with_stack(|| cx.call_method(program, id, receiver, args, ctx)));
            }
            if let (Shortcut::All | Shortcut::Any, [ArgNode::Positional(predicate)]) = (shortcut, slots) {
                let target = shortcut == Shortcut::Any;
                let outcome =
                    self.nested(|cx| with_stack(|| cx.quantify(program, receiver, *predicate, target, ctx)));
                return outcome.map(Value::Bool);
            }
        }
        for slot in slots {
            let ArgNode::Positional(node) = slot else { continue };
            self.push_operand(&mut operands, program, *node, ctx)?;
        }
        match self.direct(shortcut, &operands) {
            Some(result) => result,
            None => self.nested(|cx| with_stack(|| cx.call_operands(program, id, operands, ctx))),
        }
    }

    /// Evaluates and appends an operand. One `push` per variant lets the compiler construct each in place.
    #[inline]
    fn push_operand<'a>(
        &mut self,
        operands: &mut Operands<'a>,
        program: &'a Arc<Program>,
        node: NodeId,
        ctx: &'a Ctx,
    ) -> Result<()> {
        self.step()?;
        if let Some(value) = peek(program, node, ctx) {
            operands.push(Operand::Borrowed(value));
        } else {
            let value = self.eval(program, node, ctx)?;
            operands.push(Operand::Owned(value));
        }
        Ok(())
    }

    /// Applies the function to common operand types; `None` for others.
    fn direct(&mut self, shortcut: Shortcut, operands: &[Operand<'_>]) -> Option<Result<Value>> {
        let first = operands.first()?.get();
        let second = operands.get(1).map(Operand::get);
        match (shortcut, first, second) {
            (Shortcut::Get, Value::FrozenDict(map) | Value::Dict(map), Some(key @ Value::Str(_))) => {
                let value = map.get(key).ok()?.or_else(|| operands.get(2).map(Operand::get));
                Some(Ok(value.cloned().unwrap_or_default()))
            }
            (Shortcut::Len, Value::Tuple(seq) | Value::List(seq), None) => Some(Ok(seq.len().into())),
            (Shortcut::Len, Value::FrozenDict(map) | Value::Dict(map), None) => Some(Ok(map.len().into())),
            (Shortcut::Matches, Value::Str(text), Some(Value::Str(pattern))) => {
                let matched =
                    self.regex(pattern, Flags::default()).and_then(|regex| self.is_match(&regex, text));
                Some(matched.map(Value::Bool))
            }
            (Shortcut::Max | Shortcut::Min, a, Some(b)) => {
                // For equal values `max` returns the first and `min` the second.
                let second_is_greater = super::operators::test(self, BinaryOp::Gt, b, a)?;
                let take_second = |greater| greater == (shortcut == Shortcut::Max);
                Some(second_is_greater.map(|greater| if take_second(greater) { b } else { a }.clone()))
            }
            (Shortcut::Str, Value::Str(_), None) => Some(Ok(first.clone())),
            (Shortcut::Str, Value::Int(number), None) => Some(self.text(itoa::Buffer::new().format(*number))),
            (Shortcut::Concat, ..) => self.concat_operands(operands),
            _ => None,
        }
    }

    fn concat_operands(&mut self, operands: &[Operand<'_>]) -> Option<Result<Value>> {
        const BYTES_MAX: usize = 4096;
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        let complete = operands.iter().all(|operand| match operand.get() {
            Value::Str(text) => {
                out.push_str(text);
                out.len() <= BYTES_MAX
            }
            _ => false,
        });
        let result = complete.then(|| self.text(&*out));
        self.scratch = out;
        result
    }

    /// Returns `target` if the predicate is `target` for some element, else its negation: `any` for true,
    /// `all` for false.
    fn quantify(
        &mut self,
        program: &Arc<Program>,
        collection: &Value,
        predicate: NodeId,
        target: bool,
        ctx: &Ctx,
    ) -> Result<bool> {
        self.check_sized(collection)?;
        let mut frame: Option<Ctx> = None;
        for item in collection.as_seq().iter().flat_map(|seq| seq.iter()) {
            self.step()?;
            let mut item = item.clone();
            let reused = match &mut frame {
                Some(frame) => frame.reuse_first(&mut item)?,
                None => false,
            };
            if !reused {
                frame = Some(ctx.with_first(item)?);
            }
            let Some(frame) = &frame else { continue };
            if self.test(program, predicate, frame)? == target {
                return Ok(target);
            }
        }
        Ok(!target)
    }

    /// Makes the regular call with evaluated operands.
    fn call_operands(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        operands: Operands<'_>,
        ctx: &Ctx,
    ) -> Result<Value> {
        let (name, site, method) = match *program.tree.node(id) {
            Node::Method { name, site, .. } => (name, site, true),
            Node::Call { name, site, .. } => (name, site, false),
            _ => return Ok(Value::Null),
        };
        let Site::Resolved(resolved, _) = program.site(id, site) else { return Ok(Value::Null) };
        let mut args = Args::new(program, ctx);
        args.all.extend(operands.into_iter().map(|operand| Arg::Value(operand.into_value())));
        self.call_chosen(program, resolved, program.tree.text(name), method, &mut args)
    }
}

impl Shortcut {
    /// Reports whether the shortcut handles a receiver of this type. If not, the regular call checks the
    /// receiver before it evaluates arguments.
    fn fits_receiver(self, receiver: &Value) -> bool {
        match self {
            Self::All | Self::Any => receiver.as_seq().is_some(),
            Self::Get => receiver.as_map().is_some(),
            Self::Matches => receiver.as_str().is_some(),
            _ => true,
        }
    }
}
