//! Evaluation of operators and index accesses.

use std::sync::Arc;

use super::{Ctx, Cx, Program, Site, locate, no_match, operators};
use crate::error::{Error, Result};
use crate::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, UnaryOp};
use crate::value::{StrKey, Value};

/// A binary operator and its operands.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) op: BinaryOp,
    pub(super) left: NodeId,
    pub(super) right: NodeId,
}

impl Cx<'_> {
    /// Reports whether a node is true, without materializing a value for comparisons and logical operators.
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
                let mut result = self.test_binary(program, Operation { op, left, right }, ctx);
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

    fn test_binary(&mut self, program: &Arc<Program>, operation: Operation, ctx: &Ctx) -> Result<bool> {
        let a = self.side(program, operation, operation.left, ctx)?;
        let b = self.side(program, operation, operation.right, ctx)?;
        let op = operation.op;
        match operators::test(self, op, a.get(), b.get()) {
            Some(result) => result,
            None => match program.binary_failure(operation) {
                Some(failure) => Err(self.failure(failure, op.function(), None)),
                None => Ok(self.operator(op, a.into_value(), b.into_value(), ctx)?.is_true()),
            },
        }
    }

    pub(super) fn eval_unary(
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

    pub(super) fn eval_binary(
        &mut self,
        program: &Arc<Program>,
        operation: Operation,
        ctx: &Ctx,
    ) -> Result<Value> {
        let Operation { op, left, right } = operation;
        if self.slow && (self.redefined(op.function(), ctx) || op == BinaryOp::Pair) {
            return self.call_binary(program, operation, ctx);
        }
        if (self.slow || op == BinaryOp::Arrow)
            && let Some(failure) = program.binary_failure(operation)
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
            _ => self.fast_binary(program, operation, ctx),
        }
    }

    /// Evaluates an operator, borrowing operands that need no computation.
    fn fast_binary(&mut self, program: &Arc<Program>, operation: Operation, ctx: &Ctx) -> Result<Value> {
        let a = self.side(program, operation, operation.left, ctx)?;
        let b = self.side(program, operation, operation.right, ctx)?;
        let op = operation.op;
        if let Some(result) = operators::scalar(self, op, a.get(), b.get()) {
            return result;
        }
        if let Some(failure) = program.binary_failure(operation) {
            return Err(self.failure(failure, op.function(), None));
        }
        self.operator(op, a.into_value(), b.into_value(), ctx)
    }

    /// Returns the error of an operator with a failed operand. If a constant operand already makes the
    /// operator invalid, that error takes precedence, because Python YAQL checks it before evaluating
    /// operands. Checked only after a failure, to keep the fast path short.
    #[cold]
    fn operand_error(&self, program: &Program, operation: Operation, error: Box<Error>) -> Box<Error> {
        match program.binary_failure(operation) {
            Some(failure) => self.failure(failure, operation.op.function(), None),
            None => error,
        }
    }

    /// Evaluates one operand of an operation.
    #[inline]
    fn side<'a>(
        &mut self,
        program: &'a Arc<Program>,
        operation: Operation,
        id: NodeId,
        ctx: &'a Ctx,
    ) -> Result<Operand<'a>> {
        self.operand(program, id, ctx).map_err(|error| self.operand_error(program, operation, error))
    }

    #[inline]
    pub(super) fn operand<'a>(
        &mut self,
        program: &'a Arc<Program>,
        id: NodeId,
        ctx: &'a Ctx,
    ) -> Result<Operand<'a>> {
        self.step()?;
        match peek(program, id, ctx) {
            Some(value) => Ok(Operand::Borrowed(value)),
            None => Ok(Operand::Owned(self.eval(program, id, ctx)?)),
        }
    }

    pub(super) fn eval_index(
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
}

/// A borrowed or computed value.
#[repr(u64)]
pub(super) enum Operand<'a> {
    Borrowed(&'a Value),
    Owned(Value),
}

impl Operand<'_> {
    pub(super) fn get(&self) -> &Value {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Borrowed(value) => value.clone(),
            Self::Owned(value) => value,
        }
    }
}

/// Returns a reference to the value of a constant, a variable or a path through maps. Returns `None` for
/// nodes that need evaluation or fail; [`Cx::eval`] handles those.
#[inline]
pub(super) fn peek<'a>(program: &'a Program, id: NodeId, ctx: &'a Ctx) -> Option<&'a Value> {
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
