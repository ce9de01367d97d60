use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Returns the elements of a collection as a list, which never equals a tuple.",
    overloads: &[("m toList(collection: iter)", to_list)],
    examples: &[("range(1, 3).toList()", "[1, 2]"), ("[1].toList() = [1]", "false")],
    purity: Purity::Pure,
};

fn to_list(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let items = cx.iterate(args.value(0))?.collect(cx)?;
    cx.list(items)
}
