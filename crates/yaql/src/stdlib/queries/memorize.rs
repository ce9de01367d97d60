use super::support::memoized;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns a collection that can be iterated repeatedly. An iterator is wrapped so that it caches its elements; lists and sets are returned unchanged.",
    overloads: &[("m memorize(collection: iter)", memorize)],
    examples: &[
        ("[range(3).memorize()].select([$.sum(), $.sum()])", "[[3, 3]]"),
        ("[range(3)].select([$.sum(), $.len()])", "[[3, 0]]"),
        ("[1, 2].memorize() = [1, 2]", "true"),
        ("sequence().memorize().take(2)", "[0, 1]"),
    ],
    purity: Purity::Pure,
};

fn memorize(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    memoized(cx, args.value(0))
}
