use super::support::{as_iterator, memoized};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the collection, or the default if the collection is empty. An iterator is returned as one that can be iterated repeatedly.",
    overloads: &[("m defaultIfEmpty(collection: iter, default: iter)", default_if_empty)],
    examples: &[
        ("[].defaultIfEmpty([0])", "[0]"),
        ("[5].defaultIfEmpty([0])", "[5]"),
        ("range(9).where($ > 20).defaultIfEmpty([none])", r#"["none"]"#),
        ("[].defaultIfEmpty(0)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn default_if_empty(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let collection = memoized(cx, args.value(0))?;
    let is_empty = match collection.sized_len() {
        Some(len) => len == 0,
        None => cx.cursor(collection.clone())?.next(cx)?.is_none(),
    };
    if is_empty { as_iterator(cx, args.value(1)) } else { Ok(collection) }
}
