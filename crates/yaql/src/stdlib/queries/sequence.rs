use super::support::Counter;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the integers from `start` in steps of `step`, indefinitely. The result is lazy.",
    overloads: &[("f sequence(start: int = 0, step: int = 1)", sequence)],
    examples: &[
        ("sequence().take(3)", "[0, 1, 2]"),
        ("sequence(5, -10).take(3)", "[5, -5, -15]"),
        ("sequence(step => 7).where($ mod 2 = 1).first()", "7"),
        ("sequence()", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn sequence(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (start, step) = (args.value(0), args.value(1));
    // Python YAQL returns a boolean start unchanged, unless the step is 1.
    let verbatim = matches!(start, Value::Bool(_)) && !step.equals(&Value::Int(1));
    let first = verbatim.then(|| start.clone());
    cx.lazy(Sequence { first, counter: Counter::new(start, step) }, 0)
}

struct Sequence {
    first: Option<Value>,
    counter: Counter,
}

impl Lazy for Sequence {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let number = self.counter.advance(cx)?;
        Ok(Some(self.first.take().unwrap_or(number)))
    }
}
