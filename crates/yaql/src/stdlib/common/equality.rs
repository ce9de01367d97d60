use crate::stdlib::prelude::*;

/// Equality of the two arguments. It is defined for all values; only a datetime whose offset is
/// no offset cannot be looked at.
pub(super) fn equals(cx: &mut Cx<'_>, args: &Args<'_>) -> Result<bool> {
    cx.step()?;
    match (args.peek(0), args.peek(1)) {
        (Value::DateTime(a), Value::DateTime(b)) => a.equals(b),
        (a, b) => Ok(a.equals(b)),
    }
}
