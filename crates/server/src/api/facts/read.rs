//! Parsing shared by deployment and provisioning facts.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::reader::{json_map, report_wrong_type};
use stoker_model::{Json, JsonMap};
use stoker_yaml::{NodeKind, Scalar};

use crate::http::error::ApiResult;
use crate::http::query::{Query, query};

/// UID of the document of the provisioning engine, which belongs to no node.
pub(super) const ENGINE: &str = "engine";

query! {
    /// Nodes whose facts are returned.
    pub(super) struct NodeQuery {
        /// IDs of the nodes to return, comma-separated (default: all nodes)
        #[param(value_type = Option<String>)]
        nodes: Option<Vec<i64>> = ids,
    }
}

/// Reads `nodes` and `split` from a query.
pub(super) fn selection(mut query: Query) -> ApiResult<(Option<Vec<i64>>, bool)> {
    let NodeQuery { nodes } = NodeQuery::read(&mut query);
    let split = query.boolean("split");
    query.finish()?;
    Ok((nodes, split))
}

/// Parses the document of a node: a map with `uid`, which may be a number.
pub(super) fn read_document(
    node: &stoker_yaml::Node,
    problems: &mut Diagnostics,
) -> Option<(String, JsonMap)> {
    let mut document = json_map(node, problems)?;
    let uid = node.get("uid").map(|uid| (&uid.kind, uid));
    let uid = match uid {
        Some((NodeKind::Scalar(Scalar::Str(text)), _)) => text.to_string(),
        Some((NodeKind::Scalar(Scalar::Int(id)), _)) => id.to_string(),
        Some((_, uid)) => {
            problems.in_key("uid", |problems| {
                report_wrong_type(uid, "the id of a node", problems);
            });
            return None;
        }
        None => {
            problems.error(stoker_manifest::codes::MISSING, node.span, "`uid` is missing");
            return None;
        }
    };
    document.insert("uid".to_owned(), Json::from(uid.clone()));
    Some((uid, document))
}
