//! Fast path for calls with positional arguments only, resolved at compile time.

use std::sync::Arc;

use super::bind::{accepts_pair, default_arg, is_more_specific, positional_param};
use super::resolve::{Candidate, Failure, Resolved};
use super::{Arg, Args, Ctx, Cx, Program};
use crate::error::{Error, Result};
use crate::syntax::ArgNode;
use crate::value::{Value, ValueKind};

impl Cx<'_> {
    /// Evaluates the arguments of a call that binds them to parameters in order, and calls it.
    pub(super) fn call_plain(
        &mut self,
        program: &Arc<Program>,
        resolved: &Resolved,
        name: &str,
        receiver: Option<Value>,
        slots: &[ArgNode],
        ctx: &Ctx,
    ) -> Result<Value> {
        let method = receiver.is_some();
        let mut args = Args::new(program, ctx);
        if let Some(receiver) = receiver {
            args.all.push(Arg::Value(receiver));
            // The receiver is evaluated first, so a receiver that no overload accepts fails before any
            // argument can.
            if resolved.layers.iter().flatten().all(|candidate| !self.fits_at(candidate, 0, &args.all[0])) {
                return Err(self.plain_failure(Failure::NoMatch, name, method, &args.all));
            }
        }
        for slot in slots {
            // One `push` per variant lets the compiler construct each value in place.
            match (*slot, resolved.is_lazy(args.all.len())) {
                (ArgNode::Positional(node), true) => args.all.push(Arg::Node(node)),
                (ArgNode::Positional(node), false) => {
                    let value = self.eval(program, node, ctx)?;
                    args.all.push(Arg::Value(value));
                }
                (ArgNode::Pair(key, value), true) => args.all.push(Arg::NodePair(key, value)),
                (ArgNode::Pair(key, value), false) => {
                    let pair = (self.eval(program, key, ctx)?, self.eval(program, value, ctx)?);
                    args.all.push(Arg::Pair(Box::new(pair)));
                }
                (ArgNode::Omitted, _) => args.all.push(Arg::Value(Value::Omitted)),
            }
        }
        self.call_chosen(program, resolved, name, method, &mut args)
    }

    /// Selects the overload by the argument values, binds the arguments and calls it.
    pub(super) fn call_chosen(
        &mut self,
        program: &Arc<Program>,
        resolved: &Resolved,
        name: &str,
        method: bool,
        args: &mut Args<'_>,
    ) -> Result<Value> {
        let winner = match self.choose_plain(resolved, &args.all) {
            Ok(winner) => winner,
            Err(failure) => return Err(self.plain_failure(failure, name, method, &args.all)),
        };
        let signature = &winner.overload.signature;
        args.declared = signature.params.len();
        for (param, arg) in signature.params.iter().zip(args.all.iter_mut()) {
            self.finish_arg(program, param, arg, args.ctx)?;
        }
        if let Some(rest) = &signature.rest {
            for arg in args.all.iter_mut().skip(args.declared) {
                self.finish_arg(program, rest, arg, args.ctx)?;
            }
        }
        for param in signature.params.iter().skip(args.all.len()) {
            args.all.push(default_arg(param));
        }
        let result = winner.overload.function.call(winner.overload.index, self, args)?;
        self.check_value(&result)?;
        Ok(result)
    }

    fn choose_plain<'r>(&self, resolved: &'r Resolved, args: &[Arg]) -> Result<&'r Candidate, Failure> {
        for layer in &resolved.layers {
            let mut winner: Option<&Candidate> = None;
            for candidate in layer {
                if !args.iter().enumerate().all(|(index, arg)| self.fits_at(candidate, index, arg)) {
                    continue;
                }
                winner = match winner {
                    None => Some(candidate),
                    Some(other) if is_more_specific(other, candidate, args.len(), &[]) => Some(other),
                    Some(other) if is_more_specific(candidate, other, args.len(), &[]) => Some(candidate),
                    Some(_) => return Err(Failure::Ambiguous),
                };
            }
            if let Some(winner) = winner {
                return Ok(winner);
            }
        }
        Err(Failure::NoMatch)
    }

    #[inline]
    fn fits_at(&self, candidate: &Candidate, index: usize, arg: &Arg) -> bool {
        let Some(param) = positional_param(&candidate.overload.signature, index) else { return false };
        match arg {
            Arg::Value(Value::Omitted) => param.kind.accepts(ValueKind::Omitted, false),
            Arg::Value(value) => self.accepts_value(param, value),
            Arg::Pair(_) => accepts_pair(param),
            _ => true,
        }
    }

    #[cold]
    fn plain_failure(&self, failure: Failure, name: &str, method: bool, args: &[Arg]) -> Box<Error> {
        let receiver = match args.first() {
            Some(Arg::Value(receiver)) if method => Some(receiver),
            _ => None,
        };
        self.failure(failure, name, receiver)
    }
}
