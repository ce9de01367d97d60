use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Running fold: the seed (or the first element) and then every intermediate result, as they are asked for. The selector sees the total so far as `$1` and the element as `$2`. An empty collection without a seed is a TypeError.",
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
    source: Limited,
    selector: Lambda,
    state: State,
}

enum State {
    /// Nothing given yet; holds the seed, if there is one.
    Fresh(Option<Value>),
    /// The total so far.
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
    Box::new(error.help("give a seed for the case that there are no elements"))
}
