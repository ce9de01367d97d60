//! The arguments of a call, bound to parameters and type-checked.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use smallvec::SmallVec;

use super::{Ctx, Lambda, program::Program};
use crate::moment::{DateTime, TimeSpan};
use crate::pyregex::Regex;
use crate::syntax::NodeId;
use crate::value::{Map, Seq, Value};

/// One argument.
#[derive(Clone, Debug, Default)]
#[repr(u64)]
pub enum Arg {
    /// Omitted by the caller, and the parameter's default is `none`.
    #[default]
    Absent,
    Value(Value),
    Pair(Box<(Value, Value)>),
    /// Unevaluated: a node of the caller's expression.
    Node(NodeId),
    /// `k => v`, both unevaluated.
    NodePair(NodeId, NodeId),
    /// A value passed to a lambda parameter.
    Lambda(Lambda),
}

/// The arguments of one call, indexed by parameter.
pub struct Args<'a> {
    /// The context of the caller.
    pub ctx: &'a Ctx,
    /// The caller's expression, which owns unevaluated arguments.
    pub program: &'a Arc<Program>,
    /// One argument per declared parameter, followed by the variadic arguments.
    pub(super) all: SmallVec<[Arg; 4]>,
    /// Number of declared parameters.
    pub(super) declared: usize,
    pub(super) named: Vec<(Box<str>, Arg)>,
}

/// Accessors take the index of the parameter in the signature. Overload resolution has already checked the
/// types, so a function that requests an argument of its declared type always gets it; any other request
/// yields a neutral value (null, zero, empty) instead of a panic. Accessors on `&mut self` move the argument
/// out.
impl<'a> Args<'a> {
    pub(super) fn new(program: &'a Arc<Program>, ctx: &'a Ctx) -> Self {
        Self { ctx, program, all: SmallVec::new(), declared: 0, named: Vec::new() }
    }

    /// Takes the variadic arguments.
    fn take_rest(&mut self) -> impl Iterator<Item = Arg> {
        self.all.drain(self.declared.min(self.all.len())..)
    }

    /// Iterates over the variadic arguments that are values.
    pub fn rest(&self) -> impl Iterator<Item = &Value> + Clone {
        self.all.iter().skip(self.declared).filter_map(|arg| match arg {
            Arg::Value(value) => Some(value),
            _ => None,
        })
    }

    /// Takes a value; null if the argument was omitted.
    pub fn value(&mut self, index: usize) -> Value {
        self.optional(index).unwrap_or_default()
    }

    /// Takes a value; `None` if the argument was omitted.
    pub fn optional(&mut self, index: usize) -> Option<Value> {
        match self.all.get_mut(index).map(std::mem::take) {
            Some(Arg::Value(value)) => Some(value),
            _ => None,
        }
    }

    /// Borrows a value; null if the argument was omitted.
    pub fn peek(&self, index: usize) -> &Value {
        const NULL: &Value = &Value::Null;
        match self.all.get(index) {
            Some(Arg::Value(value)) => value,
            _ => NULL,
        }
    }

    /// Borrows a string.
    pub fn str(&self, index: usize) -> &str {
        self.peek(index).as_str().unwrap_or_default()
    }

    /// Borrows a nullable string.
    pub fn str_or_null(&self, index: usize) -> Option<&str> {
        self.peek(index).as_str()
    }

    /// Takes a string.
    pub fn text(&mut self, index: usize) -> Arc<str> {
        match self.value(index) {
            Value::Str(text) => text,
            _ => Arc::from(""),
        }
    }

    /// Returns an integer used as a count or position, saturated to the range of `i64`.
    pub fn int(&self, index: usize) -> i64 {
        match self.peek(index) {
            Value::Int(number) => *number,
            Value::Bool(flag) => i64::from(*flag),
            Value::BigInt(number) => number.to_i64().unwrap_or(if number.sign() == num_bigint::Sign::Minus {
                i64::MIN
            } else {
                i64::MAX
            }),
            _ => 0,
        }
    }

    /// Returns an integer of any size.
    pub fn big_int(&self, index: usize) -> BigInt {
        match self.peek(index) {
            Value::BigInt(number) => (**number).clone(),
            _ => self.int(index).into(),
        }
    }

    pub fn bool(&self, index: usize) -> bool {
        self.peek(index).is_true()
    }

    pub fn seq(&mut self, index: usize) -> Arc<Seq> {
        match self.value(index) {
            Value::Tuple(seq) | Value::List(seq) => seq,
            _ => Arc::new(Seq::new(Vec::new())),
        }
    }

    pub fn map(&mut self, index: usize) -> Arc<Map> {
        match self.value(index) {
            Value::FrozenDict(map) | Value::Dict(map) => map,
            _ => Arc::new(Map::builder().build()),
        }
    }

    pub fn regex(&mut self, index: usize) -> Option<Arc<Regex>> {
        match self.value(index) {
            Value::Regex(regex) => Some(regex),
            _ => None,
        }
    }

    pub fn span(&self, index: usize) -> TimeSpan {
        match self.peek(index) {
            Value::TimeSpan(span) => *span,
            _ => TimeSpan::ZERO,
        }
    }

    pub fn moment(&self, index: usize) -> Option<&DateTime> {
        match self.peek(index) {
            Value::DateTime(moment) => Some(moment),
            _ => None,
        }
    }

    /// Takes a lambda; `None` if the argument was omitted.
    pub fn optional_lambda(&mut self, index: usize) -> Option<Lambda> {
        let arg = std::mem::take(self.all.get_mut(index)?);
        self.to_lambda(arg)
    }

    fn to_lambda(&self, arg: Arg) -> Option<Lambda> {
        match arg {
            Arg::Node(node) => Some(Lambda::new(self.program.clone(), node, self.ctx.clone())),
            Arg::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    /// Takes a lambda. If the caller passed null, the lambda fails when called.
    pub fn lambda(&mut self, index: usize) -> Lambda {
        match self.optional_lambda(index) {
            Some(lambda) => lambda,
            None => Lambda::missing(self.ctx.clone()),
        }
    }

    /// Takes an unevaluated expression.
    pub fn expression(&mut self, index: usize) -> Option<(Arc<Program>, NodeId)> {
        match self.all.get_mut(index).map(std::mem::take) {
            Some(Arg::Node(node)) => Some((self.program.clone(), node)),
            _ => None,
        }
    }

    /// Takes the variadic arguments as values.
    pub fn rest_values(&mut self) -> Vec<Value> {
        self.take_rest()
            .map(|arg| match arg {
                Arg::Value(value) => value,
                _ => Value::Null,
            })
            .collect()
    }

    /// Takes the variadic arguments as lambdas.
    pub fn rest_lambdas(&mut self) -> Vec<Lambda> {
        let rest: Vec<Arg> = self.take_rest().collect();
        let missing = || Lambda::missing(self.ctx.clone());
        rest.into_iter().map(|arg| self.to_lambda(arg).unwrap_or_else(missing)).collect()
    }

    /// Takes the variadic arguments that are pairs.
    pub fn rest_pairs(&mut self) -> Vec<(Value, Value)> {
        self.take_rest()
            .filter_map(|arg| match arg {
                Arg::Pair(pair) => Some(*pair),
                _ => None,
            })
            .collect()
    }

    /// Iterates over the variadic arguments that are unevaluated pairs.
    pub fn rest_lazy_pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.all.iter().skip(self.declared).filter_map(|arg| match arg {
            Arg::NodePair(key, value) => Some((*key, *value)),
            _ => None,
        })
    }

    /// Takes the variadic arguments of any type.
    pub fn rest_args(&mut self) -> Vec<Arg> {
        self.take_rest().collect()
    }

    /// Takes the named arguments that match no declared parameter.
    pub fn named_values(&mut self) -> Vec<(Box<str>, Value)> {
        let arguments = std::mem::take(&mut self.named);
        arguments
            .into_iter()
            .filter_map(|(name, arg)| match arg {
                Arg::Value(value) => Some((name, value)),
                _ => None,
            })
            .collect()
    }
}
