use super::support::{memorized, walked_once};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "The collection itself, or the default collection when it has no elements. An iterator comes back as one that remembers what it gave.",
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
    let collection = memorized(cx, args.value(0))?;
    let is_empty = match collection.sized_len() {
        Some(len) => len == 0,
        None => cx.cursor(collection.clone())?.next(cx)?.is_none(),
    };
    if is_empty { walked_once(cx, args.value(1)) } else { Ok(collection) }
}
