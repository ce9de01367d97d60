use std::collections::HashSet;

use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "What each node of a list has under a key of its network scheme, null where it has none. A node that is listed once for each of its roles counts once.",
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
    let under = |node: &Value, key: &str| node.as_map()?.get_str(key).cloned();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for node in &nodes {
        let is_new = under(node, "uid").is_none_or(|uid| seen.insert(uid.digest()));
        if is_new {
            let scheme = under(node, "network_scheme").unwrap_or_default();
            found.push(under(&scheme, &key).unwrap_or_default());
        }
    }
    cx.tuple(found)
}
