use super::support::ValueSet;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns a sequence that starts with `initial` and continues with the producer applied to the previous item, as long as the predicate is true. A selector transforms the returned items but not those passed to the producer. With `decycle`, the sequence ends before an item would be repeated. The result is lazy.",
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
    let visited = args.bool(4).then(ValueSet::default);
    // The lambdas share a context, but each of them may be a constant with a different depth.
    let lambdas = [Some(&predicate), Some(&producer), selector.as_ref()];
    let depth = lambdas.into_iter().flatten().map(Lambda::depth).max().unwrap_or(0).max(item.depth());
    cx.lazy(Generate { item, state: State::Fresh, predicate, producer, selector, visited }, depth)
}

struct Generate {
    /// The last item returned, or the initial item.
    item: Value,
    state: State,
    predicate: Lambda,
    producer: Lambda,
    selector: Option<Lambda>,
    visited: Option<ValueSet>,
}

#[derive(PartialEq)]
enum State {
    Fresh,
    Running,
    Ended,
}

impl Generate {
    /// Reports whether the sequence continues with the current item.
    fn continues(&mut self, cx: &mut Cx<'_>) -> Result<bool> {
        if !self.predicate.test1(cx, self.item.clone())? {
            return Ok(false);
        }
        match &mut self.visited {
            Some(visited) => visited.insert(cx, &self.item),
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
        if !self.continues(cx)? {
            self.state = State::Ended;
            return Ok(None);
        }
        match &mut self.selector {
            Some(selector) => selector.call1(cx, self.item.clone()).map(Some),
            None => Ok(Some(self.item.clone())),
        }
    }
}
