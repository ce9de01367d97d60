//! Readers of graphs embedded in a release or plugin: `graphs: [{type, …}]`, and `deployment_tasks` for the default graph.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::codes;
use stoker_manifest::graph::{GraphBody, read_node, read_tasks_node};
use stoker_manifest::reader::{Fields, list_of};
use stoker_model::{GraphType, Task};
use stoker_yaml::Node;

/// Reads the graphs of a release, whose tasks all need a type: no layer is below it.
pub(crate) fn release_graphs(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<Vec<GraphBody>> {
    require_types(node, problems);
    graphs(node, text, problems)
}

/// Reads the tasks of the default graph of a release, which all need a type.
pub(crate) fn release_tasks(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<Vec<Task>> {
    require_types(node, problems);
    read_tasks_node(node, text, problems)
}

/// Reads graphs, at most one per type.
pub(crate) fn graphs(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<Vec<GraphBody>> {
    let bodies = list_of(|node, problems| graph(node, text, problems))(node, problems)?;
    let types: Vec<GraphType> =
        bodies.iter().map(|body| body.graph_type.clone().unwrap_or_default()).collect();
    for (item_idx, graph_type) in types.iter().enumerate() {
        if types[..item_idx].contains(graph_type) {
            let span = node.as_seq().map_or(node.span, |items| items[item_idx].span);
            problems.in_item(item_idx, |problems| {
                problems.error(codes::CONFLICT, span, format!("duplicate graph of type `{graph_type}`"));
            });
        }
    }
    Some(bodies)
}

/// Reports tasks of the default graph that are defined twice: in `graphs` and in `deployment_tasks`.
pub(crate) fn require_single_default(
    graphs: Option<&[GraphBody]>,
    tasks: Option<&[Task]>,
    fields: &mut Fields<'_, '_>,
) {
    let is_default = |graph: &&GraphBody| {
        graph.graph_type.as_ref().is_none_or(|graph_type| graph_type.as_str() == GraphType::DEFAULT)
    };
    let has_tasks = graphs.into_iter().flatten().find(is_default).is_some_and(|graph| graph.tasks.is_some());
    // Some packagers write both keys; an empty list overrides nothing.
    if !has_tasks || tasks.is_none_or(<[Task]>::is_empty) {
        return;
    }
    let span = fields.node().get("deployment_tasks").map_or(fields.node().span, |node| node.span);
    fields.problems().in_key("deployment_tasks", |problems| {
        let message = "both `deployment_tasks` and `graphs` define the tasks of graph `default`";
        problems.error(codes::CONFLICT, span, message).set_help("remove one of them");
    });
}

/// Reports tasks without a type, in a list of tasks or of graphs.
fn require_types(list: &Node, problems: &mut Diagnostics) {
    for (item_idx, item) in list.as_seq().into_iter().flatten().enumerate() {
        problems.in_item(item_idx, |problems| match (item.get("tasks"), item.get("id")) {
            (Some(tasks), None) => problems.in_key("tasks", |problems| require_types(tasks, problems)),
            (_, Some(id)) if item.get("type").is_none() => {
                let task = id.as_str().map(|id| format!("task {}: ", quoted(id))).unwrap_or_default();
                let message =
                    format!("{task}`type` is missing, and no layer is below the release that could set it");
                problems.in_key("type", |problems| _ = problems.error(codes::MISSING, item.span, message));
            }
            _ => {}
        });
    }
}

fn graph(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<GraphBody> {
    let body = read_node(node, text, problems)?;
    if body.owner.is_some() {
        let message = "`model` and `model_id` are not allowed here: the graph belongs to the document it is embedded in";
        problems.error(codes::CONFLICT, node.span, message);
    }
    Some(body)
}
