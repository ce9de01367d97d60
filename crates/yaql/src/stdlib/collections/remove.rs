use super::sets;
use crate::stdlib::prelude::*;
use crate::value::Set;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns a set without the arguments. Arguments that are not in the set are ignored. Fails with TypeError if an argument is unhashable, and with AttributeError if the receiver is a map view.",
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
