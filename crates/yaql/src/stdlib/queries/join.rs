use super::support::memoized;
use crate::eval::Cursor;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the results of the selector for all pairs of elements of two collections for which the predicate is true. Both get the elements as `$1` and `$2`. The second collection is iterated once per element of the first. The result is lazy.",
    overloads: &[("m join(collection1: iter, collection2: iter, predicate: lambda, selector: lambda)", join)],
    examples: &[
        ("[1, 2].join([3, 4], true, [$1, $2])", "[[1, 3], [1, 4], [2, 3], [2, 4]]"),
        ("[1, 2, 3].join(range(9), $1 * $1 = $2, $2)", "[1, 4]"),
        ("[{id => 1, n => x}].join([{ref => 1, v => 5}], $1.id = $2.ref, {$1.n => $2.v})", r#"[{"x": 5}]"#),
        ("[1].join([2], true)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn join(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let first = cx.iterate(args.value(0))?;
    let second = memoized(cx, args.value(1))?;
    let predicate = args.lambda(2);
    let selector = args.lambda(3);
    let lambdas = predicate.depth().max(selector.depth());
    let depth = first.depth().max(second.depth()).max(lambdas);
    cx.lazy(Join { first, second, current: None, predicate, selector }, depth)
}

struct Join {
    first: LimitedCursor,
    second: Value,
    /// The current element of the first collection, and the position in the second.
    current: Option<(Value, Cursor)>,
    predicate: Lambda,
    selector: Lambda,
}

impl Lazy for Join {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        loop {
            let Some((left, cursor)) = &mut self.current else {
                let Some(left) = self.first.next(cx)? else { return Ok(None) };
                self.current = Some((left, cx.cursor(self.second.clone())?));
                continue;
            };
            let Some(right) = cursor.next(cx)? else {
                self.current = None;
                continue;
            };
            if self.predicate.test2(cx, left.clone(), right.clone())? {
                return self.selector.call2(cx, left.clone(), right).map(Some);
            }
        }
    }
}
