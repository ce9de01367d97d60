use super::flattening::flatten_iterators;
use super::to_list;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Creates a list of the arguments. Lazy collections are replaced by their elements, recursively; lists, maps, sets and map views are added as single elements.",
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
    let elements = flatten_iterators(cx, args.rest_values())?;
    // A library layer, such as the legacy functions, may redefine `toList`.
    if cx.has_layered_method("toList") {
        return cx.call_by_name("toList", Some(elements), Vec::new(), Vec::new(), args.ctx);
    }
    to_list::of(cx, elements)
}
