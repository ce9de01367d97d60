use num_bigint::Sign;

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "The same value that many times; without a count, or with a negative one, without end.",
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
    let left = match args.peek(1) {
        Value::BigInt(times) if times.sign() == Sign::Plus => {
            return Err(Box::new(Error::overflow("Python int too large to convert to C ssize_t")));
        }
        // A negative count means for ever.
        _ => u64::try_from(args.int(1)).ok(),
    };
    let value = args.value(0);
    let depth = value.depth();
    cx.lazy(Repeat { value, left }, depth)
}

struct Repeat {
    value: Value,
    left: Option<u64>,
}

impl Lazy for Repeat {
    fn next(&mut self, _: &mut Cx<'_>) -> Result<Option<Value>> {
        match &mut self.left {
            Some(0) => return Ok(None),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(Some(self.value.clone()))
    }
}
