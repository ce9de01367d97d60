//! From evaluated arguments to a bound call: which overload fits, and what each parameter gets.

use std::sync::Arc;

use smallvec::SmallVec;

use super::call::{Given, GivenArgs};
use super::operators::TEXT_FREE_BYTES;
use super::resolve::{Binding, Candidate, Failure, Resolved, Source};
use super::{Arg, Args, Ctx, Cx, Lambda, Program};
use crate::error::Result;
use crate::library::{Default, Param, ParamType, Signature};
use crate::moment::TimeSpan;
use crate::value::{Kind, Value};

impl Cx<'_> {
    pub(super) fn fits_receiver(&self, resolved: &Resolved, receiver: &Value) -> bool {
        resolved.layers.iter().flatten().any(|candidate| {
            positional_param(&candidate.overload.signature, 0)
                .is_some_and(|param| self.accepts_value(param, receiver))
        })
    }

    /// The overload that fits the values: of the innermost layer that has one.
    pub(super) fn choose<'r>(
        &self,
        resolved: &'r Resolved,
        positional: &[Given],
        named: &[(&str, Given)],
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
                    Some(other) if is_more_special(other, candidate, positional.len(), named) => Some(other),
                    Some(other) if is_more_special(candidate, other, positional.len(), named) => {
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

    fn fits(&self, candidate: &Candidate, positional: &[Given], named: &[(&str, Given)]) -> bool {
        let signature = &candidate.overload.signature;
        let positional_fit = positional.iter().enumerate().all(|(index, given)| {
            let is_default = matches!(given, Given::Omitted) && index < signature.params.len();
            is_default || positional_param(signature, index).is_some_and(|param| self.accepts(param, given))
        });
        positional_fit
            && named.iter().all(|(name, given)| {
                named_param(signature, name).is_some_and(|param| self.accepts(param, given))
            })
    }

    fn accepts(&self, param: &Param, given: &Given) -> bool {
        match given {
            Given::Value(value) => self.accepts_value(param, value),
            Given::Pair(..) => accepts_pair(param),
            Given::Node(_) | Given::NodePair(..) => true,
            Given::Omitted => param.kind.accepts(Kind::Omitted, false),
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
        mut positional: GivenArgs,
        mut named: SmallVec<[(&str, Given); 2]>,
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
                    let given = std::mem::replace(&mut positional[at], Given::Omitted);
                    self.bound(program, param, given, ctx)?
                }
                Source::Named(at) => {
                    let given = std::mem::replace(&mut named[at].1, Given::Omitted);
                    named[at].0 = "";
                    self.bound(program, param, given, ctx)?
                }
                Source::Default => default_arg(param),
            };
            args.all.push(argument);
        }
        if let Some(param) = &signature.rest {
            for given in positional.into_iter().skip(signature.params.len()) {
                let argument = match given {
                    // There is no default here: the mark of the empty slot is what the lambda gives.
                    Given::Omitted if param.kind.is_lazy() => {
                        Arg::Lambda(Lambda::of_value(Value::Omitted, ctx.clone()))
                    }
                    given => self.bound(program, param, given, ctx)?,
                };
                args.all.push(argument);
            }
        }
        if let Some(param) = &signature.named_rest {
            for (name, given) in named.into_iter().filter(|(name, _)| !name.is_empty()) {
                let argument = self.bound(program, param, given, ctx)?;
                args.named.push((name.into(), argument));
            }
        }
        Ok(args)
    }

    /// Makes of an argument what the parameter wants.
    fn bound(&mut self, program: &Arc<Program>, param: &Param, given: Given, ctx: &Ctx) -> Result<Arg> {
        let mut arg = match given {
            Given::Omitted => Arg::Value(Value::Omitted),
            Given::Node(node) => Arg::Node(node),
            Given::NodePair(key, value) => Arg::NodePair(key, value),
            Given::Value(value) => Arg::Value(value),
            Given::Pair(pair) => Arg::Pair(pair),
        };
        self.finish_arg(program, param, &mut arg, ctx)?;
        Ok(arg)
    }

    /// Makes of an argument, in place, what the parameter wants.
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
                // Whatever a function does with a long text, it is likely to read all of it.
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
            Arg::Node(node) if !param.kind.is_lazy() => *arg = Arg::Value(self.eval(program, *node, ctx)?),
            _ => {}
        }
        Ok(())
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

/// Whether the first is more special for at least one argument, and the second for none.
pub(super) fn is_more_special(
    first: &Candidate,
    second: &Candidate,
    positional: usize,
    named: &[(&str, Given)],
) -> bool {
    let (a, b) = (&first.overload.signature, &second.overload.signature);
    let by_position = (0..positional).map(|index| (positional_param(a, index), positional_param(b, index)));
    let by_name = named.iter().map(|(name, _)| (named_param(a, name), named_param(b, name)));
    let mut more_special = false;
    for (a, b) in by_position.chain(by_name) {
        let (Some(a), Some(b)) = (a, b) else { continue };
        if b.kind.is_specialization_of(a.kind) {
            return false;
        }
        more_special |= a.kind.is_specialization_of(b.kind);
    }
    more_special
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
