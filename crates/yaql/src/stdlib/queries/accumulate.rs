use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the running results of a fold: the seed, or the first element if there is none, then each intermediate result. The selector gets the accumulated value as `$1` and the element as `$2`. The result is lazy. Fails with TypeError if the collection is empty and there is no seed.",
    overloads: &[("m accumulate(collection: iter, selector: lambda, seed: any = none)", accumulate)],
    examples: &[
        ("[4, 5, 6].accumulate($1 + $2)", "[4, 9, 15]"),
        ("[2, 3].accumulate($1 * $2, 10)", "[10, 20, 60]"),
        ("[].accumulate($1 + $2, x)", r#"["x"]"#),
        ("[].accumulate($1 + $2)", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn accumulate(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let selector = args.lambda(1);
    let seed = args.optional(2);
    let seed_depth = seed.as_ref().map_or(0, Value::depth);
    let depth = source.depth().max(selector.depth()).max(seed_depth);
    cx.lazy(Accumulate { source, selector, state: State::Fresh(seed) }, depth)
}

struct Accumulate {
    source: LimitedCursor,
    selector: Lambda,
    state: State,
}

enum State {
    /// No element has been returned; contains the seed.
    Fresh(Option<Value>),
    /// The accumulated value.
    Running(Value),
    Ended,
}

impl Lazy for Accumulate {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let total = match std::mem::replace(&mut self.state, State::Ended) {
            State::Fresh(Some(seed)) => seed,
            State::Fresh(None) => self.source.next(cx)?.ok_or_else(empty)?,
            State::Running(total) => match self.source.next(cx)? {
                Some(item) => self.selector.call2(cx, total, item)?,
                None => return Ok(None),
            },
            State::Ended => return Ok(None),
        };
        self.state = State::Running(total.clone());
        Ok(Some(total))
    }
}

fn empty() -> Box<Error> {
    let error = Error::kind("accumulate() of empty sequence with no initial value");
    Box::new(error.help("pass a seed to handle an empty collection"))
}
