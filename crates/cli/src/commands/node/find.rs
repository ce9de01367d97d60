use stoker_api_types::nodes::NodeView;
use stoker_client::RestRequest;

use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Finds nodes by ID, name or host name, in this order. Each node is returned once.
pub(super) fn find_nodes(remote: &mut Remote<'_>, names: &[String]) -> Outcome<Vec<NodeView>> {
    let nodes: Vec<NodeView> = remote.read_list(&RestRequest::get("nodes"))?;
    let mut selection: Vec<NodeView> = Vec::new();
    for name in names {
        let node = find(&nodes, name)?;
        if selection.iter().all(|earlier| earlier.id != node.id) {
            selection.push(node.clone());
        }
    }
    Ok(selection)
}

fn find<'n>(nodes: &'n [NodeView], name: &str) -> Outcome<&'n NodeView> {
    if let Some(node) = nodes.iter().find(|node| node.id.to_string() == name) {
        return Ok(node);
    }
    let matching: Vec<&NodeView> =
        nodes.iter().filter(|node| node.name == name || node.hostname == name).collect();
    match matching[..] {
        [node] => Ok(node),
        [] => {
            let mut failure = Failure::failed(format!("there is no node `{name}`"));
            failure.diagnostics[0].help = Some("run `stoker node list` to show the nodes".to_owned());
            Err(failure)
        }
        _ => {
            let ids: Vec<String> = matching.iter().map(|node| node.id.to_string()).collect();
            let message = format!("several nodes are named `{name}`: {}; use the node ID", ids.join(", "));
            Err(Failure::failed(message))
        }
    }
}
