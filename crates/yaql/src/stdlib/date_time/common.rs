//! Helpers of the date and time functions.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::Sign;
use num_traits::ToPrimitive;

use crate::moment::DateTime;
use crate::stdlib::prelude::*;

/// Returns the datetime argument at an index.
pub(super) fn datetime_arg<'a>(args: &'a Args<'_>, index: usize) -> Result<&'a DateTime> {
    args.moment(index).ok_or_else(|| Box::new(Error::kind("a datetime is required")))
}

/// Creates a datetime value.
pub(super) fn datetime_value(cx: &mut Cx<'_>, moment: DateTime) -> Result<Value> {
    cx.charge(64)?;
    Ok(Value::DateTime(Arc::new(moment)))
}

/// Returns a datetime field as an integer, saturated to the range of `i128`.
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

pub(super) fn compare_datetimes(args: &Args<'_>, fits: fn(Ordering) -> bool) -> Result<Value> {
    let order = datetime_arg(args, 0)?.compare(datetime_arg(args, 1)?)?;
    Ok(Value::Bool(fits(order)))
}
