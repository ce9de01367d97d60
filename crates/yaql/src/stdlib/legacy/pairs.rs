//! Pairs in YAQL 0.2, `a => b`: a tuple in its grammar, a mapping in the current one.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::eval::{Arg, Ctx, Cx, Program};
use crate::value::Value;

/// Evaluates both sides of a pair passed as an unevaluated argument.
pub(super) fn evaluate(
    cx: &mut Cx<'_>,
    program: &Arc<Program>,
    arg: &Arg,
    ctx: &Ctx,
    function: &str,
) -> Result<(Value, Value)> {
    let pair = match arg {
        Arg::NodePair(left, right) => {
            return Ok((cx.eval(program, *left, ctx)?, cx.eval(program, *right, ctx)?));
        }
        Arg::Node(pair) => cx.eval(program, *pair, ctx)?,
        Arg::Lambda(pair) => pair.call_in(cx, ctx)?,
        _ => return Err(not_a_pair(function)),
    };
    match pair {
        Value::Tuple(pair) if pair.len() == 2 => Ok((pair[0].clone(), pair[1].clone())),
        Value::Tuple(_) => Err(Box::new(Error::value(format!("{function}() tuples must be of size 2")))),
        _ => Err(not_a_pair(function)),
    }
}

fn not_a_pair(function: &str) -> Box<Error> {
    let expected = if function == "as" { "tuple" } else { "tuple or mapping" };
    Box::new(Error::value(format!("{function}() must have {expected} parameters")).help("write `a => b`"))
}
