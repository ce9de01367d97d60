//! Unevaluated arguments together with the context they were written in.

use std::sync::Arc;

use super::context::deeper;
use super::{Ctx, Cx, program::Program};
use crate::error::{Error, Result};
use crate::syntax::{NodeId, VarName};
use crate::value::Value;

/// An argument that is evaluated when, and as often as, a function likes.
#[derive(Clone, Debug)]
pub struct Lambda {
    body: Body,
    ctx: Ctx,
    /// The frame of the last call, used again when nobody kept it.
    frame: Option<Ctx>,
}

#[derive(Clone, Debug)]
enum Body {
    Expression(Arc<Program>, NodeId),
    /// A plain value in place of an expression: every call gives it.
    Constant(Box<Value>),
    /// Null handed over as a value where a lambda is needed: every call is an error.
    Missing,
}

impl Lambda {
    pub(super) fn new(program: Arc<Program>, body: NodeId, ctx: Ctx) -> Self {
        Self { body: Body::Expression(program, body), ctx, frame: None }
    }

    /// From an argument that is a value already. A callable is called in the context it is given
    /// to, not in the one it was made in.
    pub(super) fn of_value(value: Value, ctx: Ctx) -> Self {
        match value {
            Value::Callable(callable) => Self { body: callable.0.body.clone(), ctx, frame: None },
            value => Self { body: Body::Constant(Box::new(value)), ctx, frame: None },
        }
    }

    pub(super) fn missing(ctx: Ctx) -> Self {
        Self { body: Body::Missing, ctx, frame: None }
    }

    /// What to keep to call the body from elsewhere: `def` registers it in a context. Also what tells one argument
    /// of an expression from another, for hosts that remember results.
    pub fn expression(&self) -> Option<(&Arc<Program>, NodeId)> {
        match &self.body {
            Body::Expression(program, node) => Some((program, *node)),
            Body::Constant(_) | Body::Missing => None,
        }
    }

    pub(crate) fn constant(&self) -> Option<&Value> {
        match &self.body {
            Body::Constant(value) => Some(value),
            Body::Expression(..) | Body::Missing => None,
        }
    }

    /// How far dropping this may recurse.
    pub fn depth(&self) -> u16 {
        let body = match &self.body {
            Body::Constant(value) => value.depth(),
            Body::Expression(..) | Body::Missing => 0,
        };
        self.ctx.depth().max(body)
    }

    pub fn ctx(&self) -> &Ctx {
        &self.ctx
    }

    /// Evaluates in the context it was written in, without arguments.
    pub fn call0(&self, cx: &mut Cx<'_>) -> Result<Value> {
        self.call_in(cx, &self.ctx)
    }

    /// Evaluates with one argument, which the body sees as `$`.
    pub fn call1(&mut self, cx: &mut Cx<'_>, argument: Value) -> Result<Value> {
        self.enter(argument)?;
        match (&self.body, &self.frame) {
            (Body::Expression(program, node), Some(frame)) => cx.eval(program, *node, frame),
            _ => self.call0(cx),
        }
    }

    /// Whether the body is true of an argument.
    pub fn test1(&mut self, cx: &mut Cx<'_>, argument: Value) -> Result<bool> {
        self.enter(argument)?;
        match (&self.body, &self.frame) {
            (Body::Expression(program, node), Some(frame)) => cx.test(program, *node, frame),
            _ => Ok(self.call0(cx)?.is_true()),
        }
    }

    /// The argument itself, if the body is true of it.
    pub fn accept1(&mut self, cx: &mut Cx<'_>, argument: Value) -> Result<Option<Value>> {
        if let Body::Expression(..) = &self.body {
            let accepted = self.test1(cx, argument)?;
            return Ok(self.frame.as_ref().filter(|_| accepted).map(|frame| frame.first().clone()));
        }
        let accepted = self.call0(cx)?.is_true();
        Ok(accepted.then_some(argument))
    }

    /// Whether the body is true in the context it was written in.
    pub fn test0(&self, cx: &mut Cx<'_>) -> Result<bool> {
        match &self.body {
            Body::Expression(program, node) => cx.test(program, *node, &self.ctx),
            _ => Ok(self.call0(cx)?.is_true()),
        }
    }

    /// Puts an argument into the frame of this lambda, a new one only if somebody kept the last.
    #[inline]
    fn enter(&mut self, mut argument: Value) -> Result<()> {
        if !matches!(self.body, Body::Expression(..)) {
            return Ok(());
        }
        if let Some(frame) = &mut self.frame
            && frame.reuse_first(&mut argument)?
        {
            return Ok(());
        }
        self.frame = Some(self.ctx.with_first(argument)?);
        Ok(())
    }

    /// Evaluates with two arguments, `$1` and `$2`.
    pub fn call2(&mut self, cx: &mut Cx<'_>, first: Value, second: Value) -> Result<Value> {
        self.enter_two(first, second)?;
        match (&self.body, &self.frame) {
            (Body::Expression(program, node), Some(frame)) => cx.eval(program, *node, frame),
            _ => self.call0(cx),
        }
    }

    /// Whether the body is true of two arguments.
    pub fn test2(&mut self, cx: &mut Cx<'_>, first: Value, second: Value) -> Result<bool> {
        self.enter_two(first, second)?;
        match (&self.body, &self.frame) {
            (Body::Expression(program, node), Some(frame)) => cx.test(program, *node, frame),
            _ => Ok(self.call0(cx)?.is_true()),
        }
    }

    fn enter_two(&mut self, mut first: Value, mut second: Value) -> Result<()> {
        if !matches!(self.body, Body::Expression(..)) {
            return Ok(());
        }
        if let Some(frame) = &mut self.frame
            && frame.reuse_two(&mut first, &mut second)?
        {
            return Ok(());
        }
        let vars = [(VarName::FIRST, first), (VarName::Positional(2), second)];
        self.frame = Some(self.ctx.with_vars(vars)?);
        Ok(())
    }

    pub fn call(&self, cx: &mut Cx<'_>, vars: impl IntoIterator<Item = (VarName, Value)>) -> Result<Value> {
        let frame = self.ctx.with_vars(vars)?;
        self.call_in(cx, &frame)
    }

    /// Evaluates in a context the function has prepared.
    pub fn call_in(&self, cx: &mut Cx<'_>, ctx: &Ctx) -> Result<Value> {
        match &self.body {
            Body::Expression(program, node) => cx.eval(program, *node, ctx),
            Body::Constant(value) => Ok((**value).clone()),
            Body::Missing => Err(Box::new(Error::kind("'NoneType' object is not callable"))),
        }
    }
}

/// A closure as a value: what `lambda()` gives.
#[derive(Debug)]
pub struct Callable(pub Lambda);

impl Callable {
    pub fn depth(&self) -> u16 {
        deeper(self.0.depth()).unwrap_or(u16::MAX)
    }
}
