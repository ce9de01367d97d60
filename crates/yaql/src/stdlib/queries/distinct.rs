use super::support::ValueSet;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the distinct elements, in order of first occurrence. With a key selector, elements with equal keys are duplicates. The result is lazy. Fails with TypeError if an element or key is unhashable.",
    overloads: &[("fm distinct(collection: iter, keySelector: lambda = null)", distinct)],
    examples: &[
        ("[2, 7, 2.0, true, 1].distinct()", "[2, 7, true]"),
        ("distinct([15, 21, 35], $ mod 10)", "[15, 21]"),
        ("[[1, 2], [1, 2]].distinct()", "[[1, 2]]"),
        ("[[1].enumerate().first()].distinct()", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn distinct(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let key_selector = args.optional_lambda(1);
    let depth = key_selector.as_ref().map_or(0, Lambda::depth).max(source.depth());
    cx.lazy(Distinct { source, key_selector, keys: ValueSet::default() }, depth)
}

struct Distinct {
    source: LimitedCursor,
    key_selector: Option<Lambda>,
    keys: ValueSet,
}

impl Lazy for Distinct {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(item) = self.source.next(cx)? {
            let is_new = match &mut self.key_selector {
                Some(selector) => {
                    let key = selector.call1(cx, item.clone())?;
                    self.keys.insert(cx, &key)?
                }
                None => self.keys.insert(cx, &item)?,
            };
            if is_new {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}
