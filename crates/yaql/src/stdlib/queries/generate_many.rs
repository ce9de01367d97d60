use std::collections::VecDeque;

use super::support::ValueSet;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Traverses a tree or graph. The producer returns the successors of an item; items are returned breadth-first, or depth-first with `depthFirst`, starting with `initial`. With `decycle`, an item that was visited before is skipped, along with its successors. The result is lazy. Fails with TypeError if the producer returns a value that is not iterable.",
    overloads: &[(
        "f generateMany(initial: any, producer: lambda, selector: lambda = null, decycle: bool = false, depthFirst: bool = false)",
        generate_many,
    )],
    examples: &[
        ("generateMany(1, [$ * 2, $ * 2 + 1].where($ < 8))", "[1, 2, 3, 4, 5, 6, 7]"),
        ("generateMany(1, [$ * 2, $ * 2 + 1].where($ < 8), depthFirst => true)", "[1, 2, 4, 5, 3, 6, 7]"),
        ("generateMany(2, [$ * $ mod 11], decycle => true)", "[2, 4, 5, 3, 9]"),
        ("generateMany({n => 1, sub => [{n => 2, sub => []}]}, $.sub, $.n)", "[1, 2]"),
        ("generateMany(1, $ + 1)", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn generate_many(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let initial = args.value(0);
    let producer = args.lambda(1);
    let selector = args.optional_lambda(2);
    let visited = args.bool(3).then(ValueSet::default);
    let depth_first = args.bool(4);
    let selector_depth = selector.as_ref().map_or(0, Lambda::depth);
    let depth = initial.depth().max(producer.depth()).max(selector_depth);
    let queue = VecDeque::from([initial]);
    cx.lazy(GenerateMany { queue, current: None, producer, selector, visited, depth_first }, depth)
}

struct GenerateMany {
    queue: VecDeque<Value>,
    /// The last item returned, whose successors have not been computed yet.
    current: Option<Value>,
    producer: Lambda,
    selector: Option<Lambda>,
    visited: Option<ValueSet>,
    depth_first: bool,
}

impl GenerateMany {
    fn enqueue(&mut self, cx: &mut Cx<'_>, items: Value) -> Result<()> {
        let before = self.queue.len();
        let mut items = cx.cursor(items)?;
        while let Some(item) = items.next(cx)? {
            cx.charge(24)?;
            self.queue.push_back(item);
            cx.check_bytes(8 * self.queue.len() as u64)?;
        }
        if self.depth_first {
            self.queue.rotate_right(self.queue.len() - before);
        }
        Ok(())
    }
}

impl Lazy for GenerateMany {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if let Some(item) = self.current.take() {
            let items = self.producer.call1(cx, item)?;
            self.enqueue(cx, items)?;
        }
        while let Some(item) = self.queue.pop_front() {
            cx.step()?;
            let is_new = match &mut self.visited {
                Some(visited) => visited.insert(cx, &item)?,
                None => true,
            };
            if !is_new {
                continue;
            }
            self.current = Some(item.clone());
            return match &mut self.selector {
                Some(selector) => selector.call1(cx, item).map(Some),
                None => Ok(Some(item)),
            };
        }
        Ok(None)
    }
}
