//! Calls: evaluate the arguments, select the overload that accepts them, bind and invoke it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::context::DefinedFunction;
use super::defined::DEFINED;
use super::operation::Operation;
use super::program::{arg_shape, shape};
use super::resolve::{Failure, Resolved, Shape, resolve_candidates};
use super::{Arg, Args, Ctx, Cx, Program, Site};
use crate::error::{Error, ErrorClass, Result};
use crate::syntax::{ArgNode, ArgRange, Node, NodeId, Tree};
use crate::value::{Value, ValueKind};

/// An actual argument of a call, before it is bound to a parameter.
#[derive(Clone, Debug)]
pub(super) enum ActualArg {
    Omitted,
    Node(NodeId),
    NodePair(NodeId, NodeId),
    Value(Value),
    /// A pair whose key and value have been evaluated.
    Pair(Box<(Value, Value)>),
}

pub(super) type ActualArgs = SmallVec<[ActualArg; 6]>;

/// A call to be resolved.
struct Call<'a> {
    program: &'a Arc<Program>,
    name: &'a str,
    receiver: Option<Value>,
    /// Arguments without the receiver.
    actual: ActualArgs,
    /// Named arguments passed as values.
    named_values: Vec<(Box<str>, Value)>,
    ctx: &'a Ctx,
}

impl<'a> Call<'a> {
    /// Creates a call of a function, without named arguments.
    fn new(
        program: &'a Arc<Program>,
        name: &'a str,
        actual: impl IntoIterator<Item = ActualArg>,
        ctx: &'a Ctx,
    ) -> Self {
        let actual = actual.into_iter().collect();
        Self { program, name, receiver: None, actual, named_values: Vec::new(), ctx }
    }
}

impl Cx<'_> {
    /// Evaluates `name(…)`.
    pub(super) fn call_named(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        args: ArgRange,
        ctx: &Ctx,
    ) -> Result<Value> {
        let Node::Call { name, site, .. } = program.tree.node(id) else { return Ok(Value::Null) };
        let name = program.tree.text(*name);
        match program.site(id, *site) {
            Site::Unknown => {
                let stripped = name.trim_end_matches('_');
                let Some((function, closure)) = ctx.function(stripped) else {
                    return Err(self.unknown_function(name, ctx));
                };
                self.call_defined(program, function, closure, args, ctx)
            }
            site => self.call_site(program, site, name, None, args, ctx),
        }
    }

    /// Evaluates `receiver.name(…)` for an evaluated receiver.
    pub(super) fn call_method(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        receiver: Value,
        args: ArgRange,
        ctx: &Ctx,
    ) -> Result<Value> {
        let Node::Method { name, site, .. } = program.tree.node(id) else { return Ok(Value::Null) };
        let name = program.tree.text(*name);
        match program.site(id, *site) {
            Site::Unknown => Err(self.unknown_method(name, &receiver)),
            site => self.call_site(program, site, name, Some(receiver), args, ctx),
        }
    }

    fn call_site(
        &mut self,
        program: &Arc<Program>,
        site: &Site,
        name: &str,
        receiver: Option<Value>,
        args: ArgRange,
        ctx: &Ctx,
    ) -> Result<Value> {
        // `def` can shadow functions but not methods.
        let shadowed = self.slow && receiver.is_none() && ctx.function(name.trim_end_matches('_')).is_some();
        if let (Site::Resolved(resolved, _), false) = (site, shadowed)
            && resolved.in_order
        {
            return self.call_plain(program, resolved, name, receiver, program.tree.arg_slice(args), ctx);
        }
        let slots = program.tree.arg_slice(args).iter().map(|slot| actual_arg(*slot));
        let call = Call { receiver, ..Call::new(program, name, slots, ctx) };
        match site {
            _ if shadowed => self.call_dynamic(call),
            Site::Resolved(resolved, _) => self.run(call, resolved),
            Site::Failed(failure) => Err(self.failure(*failure, name, call.receiver.as_ref())),
            Site::Unknown => Err(self.unknown_function(name, ctx)),
        }
    }

    /// Evaluates a literal, an index access or a call of a callable value, which are calls of `#…` functions.
    pub(super) fn call_operator(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        name: &str,
        first: Option<NodeId>,
        args: ArgRange,
        ctx: &Ctx,
    ) -> Result<Value> {
        let slots = program.tree.arg_slice(args).iter().map(|slot| actual_arg(*slot));
        let call = Call::new(program, name, first.map(ActualArg::Node).into_iter().chain(slots), ctx);
        let site = match program.tree.node(id) {
            Node::Index { site, .. } | Node::Invoke { site, .. } => Some(program.site(id, *site)),
            _ => None,
        };
        match site {
            Some(Site::Resolved(resolved, _)) if !self.redefined(name, ctx) => self.run(call, resolved),
            _ => self.call_dynamic(call),
        }
    }

    /// Evaluates a binary operator that a `def` or a library layer redefines.
    pub(super) fn call_binary(
        &mut self,
        program: &Arc<Program>,
        operation: Operation,
        ctx: &Ctx,
    ) -> Result<Value> {
        let Operation { op, left, right } = operation;
        let operands = [ActualArg::Node(left), ActualArg::Node(right)];
        self.call_dynamic(Call::new(program, op.function(), operands, ctx))
    }

    /// Evaluates `receiver.name(…)` through `#operator_.`, which may have been redefined.
    pub(super) fn call_dot(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        receiver: Value,
        ctx: &Ctx,
    ) -> Result<Value> {
        // The right operand is passed as the whole method-call node. The redefined operator uses only the
        // call part and supplies its own receiver.
        let operands = [ActualArg::Value(receiver), ActualArg::Node(id)];
        self.call_dynamic(Call::new(program, "#operator_.", operands, ctx))
    }

    /// Invokes a method-call node on a receiver; the implementation of method lambdas.
    pub(crate) fn call_on_receiver(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        receiver: Value,
        ctx: &Ctx,
    ) -> Result<Value> {
        match program.tree.node(id) {
            Node::Method { args, .. } => self.call_method(program, id, receiver, *args, ctx),
            _ => self.eval(program, id, ctx),
        }
    }

    /// Applies the right operand of a dot (a key or a method call) to a receiver.
    pub(crate) fn dot(
        &mut self,
        program: &Arc<Program>,
        id: NodeId,
        receiver: Value,
        ctx: &Ctx,
    ) -> Result<Value> {
        let tree = &program.tree;
        match tree.node(id) {
            Node::Member { key, .. } => self.call_member(receiver, tree.text(*key), ctx),
            Node::Method { .. } => self.call_dot(program, id, receiver, ctx),
            _ => Err(self.failure(Failure::NoMatch, "#operator_.", None)),
        }
    }

    /// Returns a program that evaluates to a constant.
    pub(crate) fn constant_program(&self, value: Value) -> (Arc<Program>, NodeId) {
        (Program::constant(value, &self.library), 0)
    }

    /// Evaluates `receiver.key` through `#operator_.` of the library.
    pub(super) fn call_member(&mut self, receiver: Value, key: &str, ctx: &Ctx) -> Result<Value> {
        let program = Program::keyword(key, &self.library);
        self.call_dot(&program, program.tree.root, receiver, ctx)
    }

    /// Calls a function by name with evaluated positional arguments.
    pub fn call_values<const N: usize>(
        &mut self,
        name: &str,
        values: [Value; N],
        ctx: &Ctx,
    ) -> Result<Value> {
        if !self.slow || ctx.function(name).is_none() {
            let library = self.library.clone();
            if let Some(resolved) = library.get(name).and_then(|entry| entry.plain_call(false, N)) {
                let program = self.no_program();
                let mut args = Args::new(&program, ctx);
                args.all.extend(values.into_iter().map(Arg::Value));
                return self.call_chosen(&program, resolved, name, false, &mut args);
            }
        }
        self.call_by_name(name, None, values.into(), Vec::new(), ctx)
    }

    /// Returns an empty program, for calls whose arguments are all values. Created once per evaluation.
    fn no_program(&mut self) -> Arc<Program> {
        let library = &self.library;
        self.empty_program.get_or_insert_with(|| Program::keyword("", library)).clone()
    }

    /// Calls a function by name, or a method if there is a receiver, with evaluated arguments.
    pub fn call_by_name(
        &mut self,
        name: &str,
        receiver: Option<Value>,
        values: Vec<Value>,
        named_values: Vec<(Box<str>, Value)>,
        ctx: &Ctx,
    ) -> Result<Value> {
        let program = &self.no_program();
        let actual = values.into_iter().map(ActualArg::Value).collect();
        self.call_dynamic(Call { program, name, receiver, actual, named_values, ctx })
    }

    /// Resolves a call at run time, including functions defined by `def`, and makes it.
    fn call_dynamic(&mut self, call: Call<'_>) -> Result<Value> {
        let stripped = call.name.trim_end_matches('_');
        let method = call.receiver.is_some();
        let defined = if method { Vec::new() } else { call.ctx.functions(stripped) };
        let library = self.library.clone();
        let entry = library.get(stripped).map_or(&[][..], |entry| entry.layers(method));
        if defined.is_empty() && entry.is_empty() {
            return Err(match &call.receiver {
                None => self.unknown_function(call.name, call.ctx),
                Some(receiver) => self.unknown_method(call.name, receiver),
            });
        }
        let tree = &call.program.tree;
        let receiver = call.receiver.iter().map(|value| Shape::Value(value.kind()));
        let shapes = receiver.chain(call.actual.iter().map(|actual| actual_shape(tree, actual))).collect();
        let values: Vec<(Box<str>, ValueKind)> =
            call.named_values.iter().map(|(name, value)| (name.clone(), value.kind())).collect();
        let inner = defined.iter().map(|(_, closure)| vec![(&*DEFINED, Some(closure))].into_iter());
        let outer = entry
            .iter()
            .map(|layer| layer.iter().map(|overload| (overload, None)).collect::<Vec<_>>().into_iter());
        if !values.is_empty() && entry.iter().flatten().any(|overload| overload.signature.pairs) {
            let message = format!("Invalid argument {}", values[0].0);
            return Err(Box::new(Error::new(ErrorClass::Argument, message)));
        }
        match resolve_candidates(inner.chain(outer), tree, shapes, &values) {
            Ok(resolved) => self.run_with(call, &resolved, &defined),
            Err(failure) => Err(self.failure(failure, call.name, call.receiver.as_ref())),
        }
    }

    fn run(&mut self, call: Call<'_>, resolved: &Resolved) -> Result<Value> {
        self.run_with(call, resolved, &[])
    }

    /// Evaluates the eager arguments, selects the overload and calls it. `defined` holds the candidates of
    /// `def`.
    fn run_with(
        &mut self,
        call: Call<'_>,
        resolved: &Resolved,
        defined: &[(DefinedFunction, Ctx)],
    ) -> Result<Value> {
        let Call { program, name, receiver, actual, named_values, ctx } = call;
        let error_receiver =
            receiver.clone().filter(|_| resolved.layers.iter().any(|layer| !layer.is_empty()));
        if error_receiver.as_ref().is_some_and(|receiver| !self.fits_receiver(resolved, receiver)) {
            // The receiver is evaluated first, so a receiver that no overload accepts fails before any
            // argument can.
            return Err(self.failure(Failure::NoMatch, name, error_receiver.as_ref()));
        }
        let mut positional: ActualArgs = SmallVec::with_capacity(actual.len() + 1);
        let offset = usize::from(receiver.is_some());
        positional.extend(receiver.map(ActualArg::Value));
        for actual in actual {
            if matches!(actual, ActualArg::NodePair(..)) && !resolved.named.is_empty() {
                continue; // It was translated to a named argument.
            }
            let lazy = resolved.is_lazy(positional.len());
            positional.push(if lazy { actual } else { self.evaluate(program, actual, ctx)? });
        }
        debug_assert!(positional.len() >= offset);
        let mut named: SmallVec<[(&str, ActualArg); 2]> = SmallVec::new();
        for argument in &resolved.named {
            let value = if argument.lazy {
                ActualArg::Node(argument.value)
            } else {
                ActualArg::Value(self.eval(program, argument.value, ctx)?)
            };
            named.push((program.tree.keyword(argument.key).unwrap_or_default(), value));
        }
        named.extend(named_values.iter().map(|(name, value)| (&**name, ActualArg::Value(value.clone()))));
        let Some(winner) = self.choose(resolved, &positional, &named, name, error_receiver.as_ref())? else {
            return Err(self.failure(Failure::NoMatch, name, error_receiver.as_ref()));
        };
        drop(error_receiver);
        if let Some(closure) = &winner.closure {
            let definition = defined.iter().find(|(_, ctx)| ctx.address() == closure.address());
            let Some((function, closure)) = definition else { return Ok(Value::Null) };
            return self.call_closure(function, closure, positional, &named);
        }
        let mut args = self.bind(program, winner, positional, named, ctx)?;
        let result = winner.overload.function.call(winner.overload.index, self, &mut args)?;
        self.check_value(&result)?;
        Ok(result)
    }

    fn evaluate(&mut self, program: &Arc<Program>, actual: ActualArg, ctx: &Ctx) -> Result<ActualArg> {
        Ok(match actual {
            ActualArg::Node(node) => ActualArg::Value(self.eval(program, node, ctx)?),
            ActualArg::NodePair(key, value) => {
                ActualArg::Pair(Box::new((self.eval(program, key, ctx)?, self.eval(program, value, ctx)?)))
            }
            other => other,
        })
    }

    /// Fails if a value exceeds the memory quota for a single value.
    pub(super) fn check_value(&self, value: &Value) -> Result<()> {
        match value {
            Value::Str(text) if text.len() < 1 << 12 && !self.slow => Ok(()),
            Value::Str(_)
            | Value::Tuple(_)
            | Value::List(_)
            | Value::Dict(_)
            | Value::Set(_)
            | Value::BigInt(_) => self.check_bytes(value.shallow_size()),
            _ if self.slow => self.check_bytes(value.shallow_size()),
            _ => Ok(()),
        }
    }

    /// Reports whether `def` or a library layer redefines this core function.
    pub(crate) fn redefined(&self, name: &str, ctx: &Ctx) -> bool {
        self.slow && (ctx.function(name).is_some() || self.library.redefines(name))
    }

    /// Reports whether a layer above the standard library also defines this method.
    pub(crate) fn has_layered_method(&self, name: &str) -> bool {
        self.library.get(name).is_some_and(|entry| entry.methods.len() > 1)
    }
}

fn actual_arg(slot: ArgNode) -> ActualArg {
    match slot {
        ArgNode::Omitted => ActualArg::Omitted,
        ArgNode::Positional(node) => ActualArg::Node(node),
        ArgNode::Pair(key, value) => ActualArg::NodePair(key, value),
    }
}

fn actual_shape(tree: &Tree, actual: &ActualArg) -> Shape {
    match actual {
        ActualArg::Omitted => Shape::Omitted,
        // A method-call node passed as the right operand of a dot counts as a call.
        ActualArg::Node(node) if matches!(tree.node(*node), Node::Method { .. }) => Shape::Call,
        ActualArg::Node(node) => shape(tree, *node),
        ActualArg::NodePair(key, value) => arg_shape(tree, ArgNode::Pair(*key, *value)),
        ActualArg::Value(value) => Shape::Value(value.kind()),
        ActualArg::Pair(..) => Shape::Expression,
    }
}
