use num_bigint::Sign;

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns a value repeated `times` times, or indefinitely if `times` is negative or omitted. The result is lazy.",
    overloads: &[("m repeat(value: any, times: int = -1)", repeat)],
    examples: &[
        ("x.repeat(3)", r#"["x", "x", "x"]"#),
        ("[1].repeat(2)", "[[1], [1]]"),
        ("null.repeat().take(1)", "[null]"),
        ("x.repeat(0)", "[]"),
        ("x.repeat()", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn repeat(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let remaining = match args.peek(1) {
        Value::BigInt(times) if times.sign() == Sign::Plus => {
            return Err(Box::new(Error::overflow("Python int too large to convert to C ssize_t")));
        }
        // A negative count means no limit.
        _ => u64::try_from(args.int(1)).ok(),
    };
    let value = args.value(0);
    let depth = value.depth();
    cx.lazy(Repeat { value, remaining }, depth)
}

struct Repeat {
    value: Value,
    remaining: Option<u64>,
}

impl Lazy for Repeat {
    fn next(&mut self, _: &mut Cx<'_>) -> Result<Option<Value>> {
        match &mut self.remaining {
            Some(0) => return Ok(None),
            Some(remaining) => *remaining -= 1,
            None => {}
        }
        Ok(Some(self.value.clone()))
    }
}
