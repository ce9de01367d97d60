use crate::stdlib::prelude::*;

/// Compares the two arguments. Defined for all values; fails only for datetimes with an invalid offset.
pub(super) fn equals(cx: &mut Cx<'_>, args: &Args<'_>) -> Result<bool> {
    cx.step()?;
    match (args.peek(0), args.peek(1)) {
        (Value::DateTime(a), Value::DateTime(b)) => a.equals(b),
        (a, b) => Ok(a.equals(b)),
    }
}
