use super::sets;
use crate::stdlib::prelude::*;
use crate::value::Set;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "A set without the arguments; those that are not in it do not matter. An argument that cannot be hashed is a TypeError; a view of a map in place of a set is an AttributeError.",
    overloads: &[("m remove(set: set, values: any...)", remove)],
    examples: &[
        ("set(web, db, mon).remove(db, x)", "[\"web\", \"mon\"]"),
        ("set(1).remove(1.0)", "[]"),
        ("{a => 1}.keys().remove(a)", "AttributeError"),
    ],
    purity: Purity::Pure,
};

fn remove(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let set = sets::receiver(args.value(0), "difference")?;
    let removed = Set::from_values(args.rest_values())?;
    sets::difference(cx, &set, &removed)
}
