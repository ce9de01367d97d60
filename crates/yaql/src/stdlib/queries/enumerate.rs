use super::support::Counter;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns `[number, element]` pairs, counting from `start`. The pairs never equal a list literal such as `[0, x]`. The result is lazy.",
    overloads: &[("fm enumerate(collection: iter, start: int? = 0)", enumerate)],
    examples: &[
        ("[a, b].enumerate()", r#"[[0, "a"], [1, "b"]]"#),
        ("enumerate([a], 10)", r#"[[10, "a"]]"#),
        ("[a, b].enumerate(start => -1).select($[0])", "[-1, 0]"),
        ("[a].enumerate().first() = [0, a]", "false"),
        ("[a].enumerate(null)", "TypeError"),
        ("[a].enumerate(1.5)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn enumerate(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let depth = source.depth();
    let start = args.value(1);
    // The reference accepts null as a start and fails on the first element.
    let counter = if start.is_null() { None } else { Some(Counter::new(start, Value::Int(1))) };
    cx.lazy(Enumerate { source, counter }, depth)
}

struct Enumerate {
    source: LimitedCursor,
    counter: Option<Counter>,
}

impl Lazy for Enumerate {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(counter) = &mut self.counter else {
            return Err(Box::new(Error::kind("'NoneType' object cannot be interpreted as an integer")));
        };
        let Some(item) = self.source.next(cx)? else { return Ok(None) };
        let number = counter.advance(cx)?;
        cx.list(vec![number, item]).map(Some)
    }
}
