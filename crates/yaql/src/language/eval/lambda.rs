//! Lambdas: unevaluated arguments together with the context they are evaluated in.

use std::sync::Arc;

use super::context::deeper;
use super::{Ctx, Cx, program::Program};
use crate::error::{Error, Result};
use crate::syntax::{NodeId, VarName};
use crate::value::Value;

/// An argument that the called function evaluates, zero or more times.
#[derive(Clone, Debug)]
pub struct Lambda {
    body: Body,
    ctx: Ctx,
    /// Frame of the previous call, which is reused if there is no other reference to it.
    frame: Option<Ctx>,
}

#[derive(Clone, Debug)]
enum Body {
    Expression(Arc<Program>, NodeId),
    /// A value passed in place of an expression: every call returns it.
    Constant(Box<Value>),
    /// Null passed where a lambda is required: every call fails.
    Missing,
}

impl Lambda {
    pub(super) fn new(program: Arc<Program>, body: NodeId, ctx: Ctx) -> Self {
        Self { body: Body::Expression(program, body), ctx, frame: None }
    }

    /// Creates a lambda from an evaluated argument. A callable is called in the context of the caller, not in
    /// the context in which it was created.
    pub(super) fn of_value(value: Value, ctx: Ctx) -> Self {
        match value {
            Value::Callable(callable) => Self { body: callable.0.body.clone(), ctx, frame: None },
            value => Self { body: Body::Constant(Box::new(value)), ctx, frame: None },
        }
    }

    pub(super) fn missing(ctx: Ctx) -> Self {
        Self { body: Body::Missing, ctx, frame: None }
    }

    /// Returns the body, if it is an expression. `def` registers it in a context; hosts that cache results
    /// use it as the identity of the argument.
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

    /// Returns the recursion depth of dropping this lambda.
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

    /// Evaluates the body without arguments.
    pub fn call0(&self, cx: &mut Cx<'_>) -> Result<Value> {
        self.call_in(cx, &self.ctx)
    }

    /// Evaluates the body with `$` bound to the argument.
    pub fn call1(&mut self, cx: &mut Cx<'_>, argument: Value) -> Result<Value> {
        self.enter(argument)?;
        match (&self.body, &self.frame) {
            (Body::Expression(program, node), Some(frame)) => cx.eval(program, *node, frame),
            _ => self.call0(cx),
        }
    }

    /// Reports whether the body is true for an argument.
    pub fn test1(&mut self, cx: &mut Cx<'_>, argument: Value) -> Result<bool> {
        self.enter(argument)?;
        match (&self.body, &self.frame) {
            (Body::Expression(program, node), Some(frame)) => cx.test(program, *node, frame),
            _ => Ok(self.call0(cx)?.is_true()),
        }
    }

    /// Returns the argument if the body is true for it.
    pub fn accept1(&mut self, cx: &mut Cx<'_>, argument: Value) -> Result<Option<Value>> {
        if let Body::Expression(..) = &self.body {
            let accepted = self.test1(cx, argument)?;
            return Ok(self.frame.as_ref().filter(|_| accepted).map(|frame| frame.first().clone()));
        }
        let accepted = self.call0(cx)?.is_true();
        Ok(accepted.then_some(argument))
    }

    /// Reports whether the body is true without arguments.
    pub fn test0(&self, cx: &mut Cx<'_>) -> Result<bool> {
        match &self.body {
            Body::Expression(program, node) => cx.test(program, *node, &self.ctx),
            _ => Ok(self.call0(cx)?.is_true()),
        }
    }

    /// Binds an argument, in the previous frame if there is no other reference to it.
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

    /// Evaluates the body with two arguments, `$1` and `$2`.
    pub fn call2(&mut self, cx: &mut Cx<'_>, first: Value, second: Value) -> Result<Value> {
        self.enter_two(first, second)?;
        match (&self.body, &self.frame) {
            (Body::Expression(program, node), Some(frame)) => cx.eval(program, *node, frame),
            _ => self.call0(cx),
        }
    }

    /// Reports whether the body is true for two arguments.
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

    /// Evaluates the body in a context prepared by the function.
    pub fn call_in(&self, cx: &mut Cx<'_>, ctx: &Ctx) -> Result<Value> {
        match &self.body {
            Body::Expression(program, node) => cx.eval(program, *node, ctx),
            Body::Constant(value) => Ok((**value).clone()),
            Body::Missing => Err(Box::new(Error::kind("'NoneType' object is not callable"))),
        }
    }
}

/// A closure as a value, created by `lambda()`.
#[derive(Debug)]
pub struct Callable(pub Lambda);

impl Callable {
    pub fn depth(&self) -> u16 {
        deeper(self.0.depth()).unwrap_or(u16::MAX)
    }
}
