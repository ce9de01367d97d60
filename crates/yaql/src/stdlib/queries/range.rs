use num_bigint::{BigInt, Sign};

use crate::stdlib::prelude::*;
use crate::value::number;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the integers from `start` (default 0) up to, but not including, `stop`, in steps of `step`, which may be negative. The result is lazy. Fails with ValueError if `step` is 0.",
    overloads: &[("f range(stop: int)", range_to), ("f range(start: int, stop: int, step: int = 1)", range)],
    examples: &[
        ("range(3)", "[0, 1, 2]"),
        ("range(2, 5)", "[2, 3, 4]"),
        ("range(9, 0, -4)", "[9, 5, 1]"),
        ("range(36893488147419103232, 36893488147419103234)", "[36893488147419103232, 36893488147419103233]"),
        ("range(1, 9, 0)", "ValueError"),
        ("range(2.5)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn range_to(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    make(cx, &Value::Int(0), args.peek(0), &Value::Int(1))
}

fn range(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    if !args.peek(2).is_true() {
        return Err(Box::new(Error::value("range() arg 3 must not be zero")));
    }
    make(cx, args.peek(0), args.peek(1), args.peek(2))
}

fn make(cx: &mut Cx<'_>, start: &Value, stop: &Value, step: &Value) -> Result<Value> {
    if let (Some(start), Some(stop), Some(step)) = (as_i64(start), as_i64(stop), as_i64(step)) {
        let remaining = count(start.into(), stop.into(), step.into());
        cx.lazy(Range { next: start, step, remaining }, 0)
    } else {
        let bytes = [start, stop, step].map(Value::shallow_size).iter().sum();
        cx.charge(bytes)?;
        let [next, stop, step] = [start, stop, step].map(number::to_big);
        cx.lazy(BigRange { next, stop, step }, 0)
    }
}

fn as_i64(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Bool(flag) => Some(i64::from(*flag)),
        _ => None,
    }
}

/// Returns the number of elements.
fn count(start: i128, stop: i128, step: i128) -> u64 {
    let distance = if step > 0 { stop - start } else { start - stop };
    if distance <= 0 { 0 } else { ((distance - 1) / step.abs() + 1) as u64 }
}

struct Range {
    next: i64,
    step: i64,
    remaining: u64,
}

impl Lazy for Range {
    fn next(&mut self, _: &mut Cx<'_>) -> Result<Option<Value>> {
        if self.remaining == 0 {
            return Ok(None);
        }
        self.remaining -= 1;
        let item = self.next;
        // Overflows only after the last element, where the value is not used.
        self.next = item.wrapping_add(self.step);
        Ok(Some(Value::Int(item)))
    }
}

/// A range with a bound or step outside 64 bits.
struct BigRange {
    next: BigInt,
    stop: BigInt,
    step: BigInt,
}

impl Lazy for BigRange {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let upwards = self.step.sign() == Sign::Plus;
        let ended = if upwards { self.next >= self.stop } else { self.next <= self.stop };
        if ended {
            return Ok(None);
        }
        cx.steps(self.next.bits() / 1024)?;
        let after = &self.next + &self.step;
        let item = Value::int(std::mem::replace(&mut self.next, after));
        cx.charge(item.shallow_size())?;
        Ok(Some(item))
    }
}
