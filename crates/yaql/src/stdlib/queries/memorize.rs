use super::support::memorized;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "A collection that can be walked again and again. An iterator comes back as one that remembers what it gave; lists and sets are returned as they are.",
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
    memorized(cx, args.value(0))
}
