use super::sets;
use crate::stdlib::prelude::*;
use crate::value::Set;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns a set with the arguments added. Fails with TypeError if an argument is unhashable, and with AttributeError if the receiver is a map view.",
    overloads: &[("m add(set: set, values: any...)", add)],
    examples: &[
        ("set(web).add(db, web)", "[\"web\", \"db\"]"),
        ("set(1).add([2, 3]).len()", "2"),
        ("set(1).add({}.delete(a))", "TypeError"),
        ("{a => 1}.keys().add(b)", "AttributeError"),
    ],
    purity: Purity::Pure,
};

fn add(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let set = sets::receiver(args.value(0), "union")?;
    let added = Set::from_values(args.rest_values())?;
    sets::union(cx, &set, &added)
}
