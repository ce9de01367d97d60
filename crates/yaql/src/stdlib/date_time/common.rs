//! What the functions of this family share.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::Sign;
use num_traits::ToPrimitive;

use crate::moment::DateTime;
use crate::stdlib::prelude::*;

/// The datetime among the arguments.
pub(super) fn taken<'a>(args: &'a Args<'_>, index: usize) -> Result<&'a DateTime> {
    args.moment(index).ok_or_else(|| Box::new(Error::kind("a datetime is required")))
}

/// A datetime as a value, within the budget.
pub(super) fn moment(cx: &mut Cx<'_>, moment: DateTime) -> Result<Value> {
    cx.charge(64)?;
    Ok(Value::DateTime(Arc::new(moment)))
}

/// A field of a datetime; what is out of range is as good as the extreme.
pub(super) fn field(value: &Value) -> Option<i128> {
    match value {
        Value::Bool(flag) => Some(i128::from(*flag)),
        Value::Int(number) => Some(i128::from(*number)),
        Value::BigInt(number) => {
            let extreme = if number.sign() == Sign::Minus { i128::MIN } else { i128::MAX };
            Some(number.to_i128().unwrap_or(extreme))
        }
        _ => None,
    }
}

pub(super) fn compare_moments(args: &Args<'_>, fits: fn(Ordering) -> bool) -> Result<Value> {
    let order = taken(args, 0)?.compare(taken(args, 1)?)?;
    Ok(Value::Bool(fits(order)))
}
