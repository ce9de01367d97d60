use super::support::Seen;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "A series: starting from `initial`, every next item is what the producer makes of the one before, for as long as the predicate is true. A selector changes what is given, not what goes on; with `decycle` the series ends before an item would come again.",
    overloads: &[(
        "f generate(initial: any, predicate: lambda, producer: lambda, selector: lambda = null, decycle: bool = false)",
        generate,
    )],
    examples: &[
        ("generate(1, $ < 50, $ * 3)", "[1, 3, 9, 27]"),
        ("generate(3, $ > 0, $ - 1, [$])", "[[3], [2], [1]]"),
        ("generate(4, true, ($ + 3) mod 7, decycle => true)", "[4, 0, 3, 6, 2, 5, 1]"),
        ("generate(0, true, $ + 1).take(2)", "[0, 1]"),
        ("generate(1, true, $)", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn generate(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let item = args.value(0);
    let predicate = args.lambda(1);
    let producer = args.lambda(2);
    let selector = args.optional_lambda(3);
    let seen = args.bool(4).then(Seen::default);
    // All lambdas of one call live in one context, but a constant may stand in for any of them.
    let lambdas = [Some(&predicate), Some(&producer), selector.as_ref()];
    let depth = lambdas.into_iter().flatten().map(Lambda::depth).max().unwrap_or(0).max(item.depth());
    cx.lazy(Generate { item, state: State::Fresh, predicate, producer, selector, seen }, depth)
}

struct Generate {
    /// The last item given, or the initial one.
    item: Value,
    state: State,
    predicate: Lambda,
    producer: Lambda,
    selector: Option<Lambda>,
    seen: Option<Seen>,
}

#[derive(PartialEq)]
enum State {
    Fresh,
    Running,
    Ended,
}

impl Generate {
    /// Whether the series goes on with the current item.
    fn goes_on(&mut self, cx: &mut Cx<'_>) -> Result<bool> {
        if !self.predicate.test1(cx, self.item.clone())? {
            return Ok(false);
        }
        match &mut self.seen {
            Some(seen) => seen.insert(cx, &self.item),
            None => Ok(true),
        }
    }
}

impl Lazy for Generate {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        match self.state {
            State::Fresh => self.state = State::Running,
            State::Running => self.item = self.producer.call1(cx, std::mem::take(&mut self.item))?,
            State::Ended => return Ok(None),
        }
        if !self.goes_on(cx)? {
            self.state = State::Ended;
            return Ok(None);
        }
        match &mut self.selector {
            Some(selector) => selector.call1(cx, self.item.clone()).map(Some),
            None => Ok(Some(self.item.clone())),
        }
    }
}
