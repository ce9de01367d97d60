use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Returns the integers from `start` up to, but not including, `stop`; infinite without `stop`. With three arguments, the current `range` is called.",
    overloads: &[("fm range(start: int, stop: int? = null)", range)],
    examples: &[
        ("range(5, 8)", "[5, 6, 7]"),
        ("5.range(7)", "[5, 6]"),
        ("range(5).take(2)", "[5, 6]"),
        ("range(5, 8)[1]", "6"),
    ],
    purity: Purity::Pure,
};

/// Maximum length of ranges that are sequences, as in Python YAQL; longer ranges are lazy to bound memory.
const SEQUENCE_MAX: i64 = 100_000;

fn range(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let start = args.int(0);
    if args.peek(1).is_null() {
        return cx.lazy(Count { next: start, end: i64::MAX }, 0);
    }
    let stop = args.int(1);
    if stop.saturating_sub(start) <= SEQUENCE_MAX {
        return cx.list((start..stop).map(Value::Int).collect());
    }
    cx.lazy(Count { next: start, end: stop }, 0)
}

struct Count {
    next: i64,
    end: i64,
}

impl Lazy for Count {
    fn next(&mut self, _: &mut Cx<'_>) -> Result<Option<Value>> {
        if self.next >= self.end {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(Value::Int(self.next - 1)))
    }
}
