//! Selects the overload that accepts the evaluated arguments and binds them to its parameters.

use std::sync::Arc;

use smallvec::SmallVec;

use super::call::{ActualArg, ActualArgs};
use super::operators::TEXT_FREE_BYTES;
use super::resolve::{Binding, Candidate, Failure, Resolved, Source};
use super::{Arg, Args, Ctx, Cx, Lambda, Program};
use crate::error::Result;
use crate::library::{Default, Param, ParamType, Signature};
use crate::moment::TimeSpan;
use crate::value::{Value, ValueKind};

impl Cx<'_> {
    pub(super) fn fits_receiver(&self, resolved: &Resolved, receiver: &Value) -> bool {
        resolved.layers.iter().flatten().any(|candidate| {
            positional_param(&candidate.overload.signature, 0)
                .is_some_and(|param| self.accepts_value(param, receiver))
        })
    }

    /// Returns the matching overload of the innermost layer that has one. Fails if a layer has several
    /// matches and none is more specific than the others.
    pub(super) fn choose<'r>(
        &self,
        resolved: &'r Resolved,
        positional: &[ActualArg],
        named: &[(&str, ActualArg)],
        name: &str,
        receiver: Option<&Value>,
    ) -> Result<Option<&'r Candidate>> {
        for layer in &resolved.layers {
            let mut winner: Option<&Candidate> = None;
            for candidate in layer {
                if !self.fits(candidate, positional, named) {
                    continue;
                }
                winner = match winner {
                    None => Some(candidate),
                    Some(other) if is_more_specific(other, candidate, positional.len(), named) => Some(other),
                    Some(other) if is_more_specific(candidate, other, positional.len(), named) => {
                        Some(candidate)
                    }
                    Some(_) => return Err(self.failure(Failure::Ambiguous, name, receiver)),
                };
            }
            if winner.is_some() {
                return Ok(winner);
            }
        }
        Ok(None)
    }

    fn fits(&self, candidate: &Candidate, positional: &[ActualArg], named: &[(&str, ActualArg)]) -> bool {
        let signature = &candidate.overload.signature;
        let positional_fit = positional.iter().enumerate().all(|(index, actual)| {
            let is_default = matches!(actual, ActualArg::Omitted) && index < signature.params.len();
            is_default || positional_param(signature, index).is_some_and(|param| self.accepts(param, actual))
        });
        positional_fit
            && named.iter().all(|(name, actual)| {
                named_param(signature, name).is_some_and(|param| self.accepts(param, actual))
            })
    }

    fn accepts(&self, param: &Param, actual: &ActualArg) -> bool {
        match actual {
            ActualArg::Value(value) => self.accepts_value(param, value),
            ActualArg::Pair(..) => accepts_pair(param),
            ActualArg::Node(_) | ActualArg::NodePair(..) => true,
            ActualArg::Omitted => param.kind.accepts(ValueKind::Omitted, false),
        }
    }

    #[inline]
    pub(super) fn accepts_value(&self, param: &Param, value: &Value) -> bool {
        match param.kind {
            ParamType::Value(kinds) => kinds.has(value.kind()),
            ParamType::Keyword => true,
            kind => kind.accepts(value.kind(), self.options.iterable_dicts),
        }
    }

    pub(super) fn bind<'c>(
        &mut self,
        program: &'c Arc<Program>,
        candidate: &Candidate,
        mut positional: ActualArgs,
        mut named: SmallVec<[(&str, ActualArg); 2]>,
        ctx: &'c Ctx,
    ) -> Result<Args<'c>> {
        let signature = &candidate.overload.signature;
        let mut args = Args::new(program, ctx);
        args.declared = signature.params.len();
        for (index, param) in signature.params.iter().enumerate() {
            let source = match &candidate.binding {
                Binding::InOrder if index < positional.len() => Source::Positional(index),
                Binding::InOrder => Source::Default,
                Binding::Mixed(sources) => sources[index],
            };
            let argument = match source {
                Source::Positional(at) => {
                    let actual = std::mem::replace(&mut positional[at], ActualArg::Omitted);
                    self.bind_arg(program, param, actual, ctx)?
                }
                Source::Named(at) => {
                    let actual = std::mem::replace(&mut named[at].1, ActualArg::Omitted);
                    named[at].0 = "";
                    self.bind_arg(program, param, actual, ctx)?
                }
                Source::Default => default_arg(param),
            };
            args.all.push(argument);
        }
        if let Some(param) = &signature.rest {
            for actual in positional.into_iter().skip(signature.params.len()) {
                let argument = match actual {
                    // Variadic parameters have no default, so the lambda returns the omitted-argument marker.
                    ActualArg::Omitted if param.kind.is_lazy() => {
                        Arg::Lambda(Lambda::of_value(Value::Omitted, ctx.clone()))
                    }
                    actual => self.bind_arg(program, param, actual, ctx)?,
                };
                args.all.push(argument);
            }
        }
        if let Some(param) = &signature.named_rest {
            for (name, actual) in named.into_iter().filter(|(name, _)| !name.is_empty()) {
                let argument = self.bind_arg(program, param, actual, ctx)?;
                args.named.push((name.into(), argument));
            }
        }
        Ok(args)
    }

    /// Converts an actual argument to the form that the parameter requires.
    fn bind_arg(
        &mut self,
        program: &Arc<Program>,
        param: &Param,
        actual: ActualArg,
        ctx: &Ctx,
    ) -> Result<Arg> {
        let mut arg = match actual {
            ActualArg::Omitted => Arg::Value(Value::Omitted),
            ActualArg::Node(node) => Arg::Node(node),
            ActualArg::NodePair(key, value) => Arg::NodePair(key, value),
            ActualArg::Value(value) => Arg::Value(value),
            ActualArg::Pair(pair) => Arg::Pair(pair),
        };
        self.finish_arg(program, param, &mut arg, ctx)?;
        Ok(arg)
    }

    /// Converts an argument in place to the form that the parameter requires.
    #[inline]
    pub(super) fn finish_arg(
        &mut self,
        program: &Arc<Program>,
        param: &Param,
        arg: &mut Arg,
        ctx: &Ctx,
    ) -> Result<()> {
        match (param.kind, &mut *arg) {
            (ParamType::Value(_), Arg::Value(value)) => {
                // Charged once here, because a function that takes a long string usually scans all of it.
                if let Value::Str(text) = value
                    && text.len() > TEXT_FREE_BYTES
                {
                    self.steps(text.len() as u64 / 64)?;
                }
                self.check_value(value)
            }
            (ParamType::Iter(_), Arg::Value(value)) => {
                self.check_sized(value)?;
                self.check_value(value)
            }
            _ => self.finish_lazy(program, param, arg, ctx),
        }
    }

    fn finish_lazy(&mut self, program: &Arc<Program>, param: &Param, arg: &mut Arg, ctx: &Ctx) -> Result<()> {
        let is_lambda =
            matches!(param.kind, ParamType::Lambda | ParamType::LambdaInContext | ParamType::MethodLambda);
        match arg {
            Arg::Value(Value::Null) if is_lambda => *arg = Arg::Absent,
            Arg::Value(value) if is_lambda => {
                *arg = Arg::Lambda(Lambda::of_value(std::mem::take(value), ctx.clone()));
            }
            Arg::Pair(_) if matches!(param.kind, ParamType::Value(_)) => {
                *arg = Arg::Value(Value::Opaque(Arc::new(PairAsValue)));
            }
            Arg::Node(node) if !param.kind.is_lazy() => *arg = Arg::Value(self.eval(program, *node, ctx)?),
            _ => {}
        }
        Ok(())
    }
}

/// A pair passed to a parameter of any type: expressions observe only that it is a true value, equal to itself.
#[derive(Debug)]
struct PairAsValue;

impl crate::value::Opaque for PairAsValue {
    fn type_name(&self) -> &'static str {
        "MappingRule"
    }
}

pub(super) fn accepts_pair(param: &Param) -> bool {
    matches!(param.kind, ParamType::Pair | ParamType::Value(crate::value::KindSet::ANY))
}

pub(super) fn positional_param(signature: &Signature, index: usize) -> Option<&Param> {
    signature.params.get(index).or(signature.rest.as_ref())
}

fn named_param<'s>(signature: &'s Signature, name: &str) -> Option<&'s Param> {
    signature.params.iter().find(|param| *param.name == *name).or(signature.named_rest.as_ref())
}

/// Reports whether `first` is more specific for at least one argument and `second` for none.
pub(super) fn is_more_specific(
    first: &Candidate,
    second: &Candidate,
    positional: usize,
    named: &[(&str, ActualArg)],
) -> bool {
    let (a, b) = (&first.overload.signature, &second.overload.signature);
    let by_position = (0..positional).map(|index| (positional_param(a, index), positional_param(b, index)));
    let by_name = named.iter().map(|(name, _)| (named_param(a, name), named_param(b, name)));
    let mut more_specific = false;
    for (a, b) in by_position.chain(by_name) {
        let (Some(a), Some(b)) = (a, b) else { continue };
        if b.kind.is_specialization_of(a.kind) {
            return false;
        }
        more_specific |= a.kind.is_specialization_of(b.kind);
    }
    more_specific
}

pub(super) fn default_arg(param: &Param) -> Arg {
    match &param.default {
        None | Some(Default::None) => Arg::Absent,
        Some(Default::Null) if param.kind.is_lazy() => Arg::Absent,
        Some(Default::Null) => Arg::Value(Value::Null),
        Some(Default::Bool(flag)) => Arg::Value(Value::Bool(*flag)),
        Some(Default::Int(number)) => Arg::Value(Value::Int(*number)),
        Some(Default::Str(text)) => Arg::Value(Value::str(&**text)),
        Some(Default::ZeroSpan) => Arg::Value(Value::TimeSpan(TimeSpan::ZERO)),
    }
}
