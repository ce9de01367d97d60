use std::collections::HashSet;

use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The value of a key in the network scheme of each node of a list; null where it is missing. A node that is listed several times, once per role, counts once.",
    overloads: &[("m network_scheme(nodes: iter, key: string)", call)],
    examples: &[
        ("[{uid => 1, network_scheme => {mtu => 9000}}, {uid => 2}].network_scheme(mtu)", "[9000, null]"),
        (
            "[{uid => 1, role => a, network_scheme => {mtu => 1}}, {uid => 1, role => b, network_scheme => {mtu => 1}}].network_scheme(mtu)",
            "[1]",
        ),
    ],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let key = args.text(1);
    let nodes = cx.iterate(args.value(0))?.collect(cx)?;
    let value_at = |node: &Value, key: &str| node.as_map()?.get_str(key).cloned();
    let mut uids = HashSet::new();
    let mut values = Vec::new();
    for node in &nodes {
        let is_new = value_at(node, "uid").is_none_or(|uid| uids.insert(uid.digest()));
        if is_new {
            let scheme = value_at(node, "network_scheme").unwrap_or_default();
            values.push(value_at(&scheme, &key).unwrap_or_default());
        }
    }
    cx.tuple(values)
}
