use super::opening::open_iterators;
use super::to_list;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "A list of the arguments. Lazy collections among them are walked and their elements taken instead, and so on for lazy ones in those; lists, maps, sets and views stay single elements.",
    overloads: &[("f list(args: any...)", list)],
    examples: &[
        ("list(1, [2, 3], x)", "[1, [2, 3], \"x\"]"),
        ("list([1, 2, 3].where($ > 1), 9)", "[2, 3, 9]"),
        ("list({a => 1}.keys())", "[[\"a\"]]"),
        ("list()", "[]"),
    ],
    purity: Purity::Pure,
};

fn list(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let elements = open_iterators(cx, args.rest_values())?;
    // A library layer may have its own idea of a list.
    if cx.has_layered_method("toList") {
        return cx.call_by_name("toList", Some(elements), Vec::new(), Vec::new(), args.ctx);
    }
    to_list::of(cx, elements)
}
