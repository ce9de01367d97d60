//! A plan as JSON, for programs.

use std::fmt::Write as _;

use stoker_model::Json;
use stoker_planner::{Explainer, Plan, Report};

use super::graph::Graph;

/// One line for each instance and each edge, so that two plans can be compared by tools for text.
pub(super) fn text(
    plan: &Plan,
    explainer: &Explainer<'_>,
    report: &Report,
    warnings: &[String],
    graph: &Graph,
) -> String {
    let mut out = String::from("{\"instances\": [");
    let quoted = |text: &str| Json::from(text).to_string();
    let mut names = Vec::with_capacity(plan.n_instances());
    for (instance_idx, instance) in plan.instances().enumerate() {
        let comma = if instance_idx > 0 { "," } else { "" };
        let (task, node, action) =
            (quoted(instance.task), quoted(instance.node), instance.verdict.action().as_str());
        let reason = quoted(&explainer.explain(&instance).to_string());
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "{comma}\n  {{\"task\": {task}, \"node\": {node}, \"action\": \"{action}\", \"reason\": {reason}}}"
        );
        names.push(quoted(&instance.to_string()));
    }
    out.push_str("\n ],\n \"edges\": [");
    for (edge_idx, (before, after)) in plan.edges().enumerate() {
        let comma = if edge_idx > 0 { "," } else { "" };
        let _ = write!(out, "{comma}\n  [{}, {}]", names[before as usize], names[after as usize]);
    }
    let groups: Vec<Json> = plan
        .groups
        .iter()
        .map(|group| {
            let fields = [
                ("name", Json::from(group.name.as_str())),
                ("node_ids", Json::from(group.nodes.clone())),
                ("fault_tolerance", Json::from(group.tolerated)),
            ];
            fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Json>()
        })
        .collect();
    let _ = write!(out, "\n ],\n \"fault_tolerance_groups\": {},\n", Json::Array(groups));
    let warnings: Vec<Json> = warnings
        .iter()
        .map(|warning| warning_json(warning.clone(), None))
        .chain(report.warnings().map(|problem| {
            let place = problem.task.as_ref().and_then(|task| graph.place(task, &problem.field));
            let line = place.map(|place| {
                let before = place.text.get(..place.span.start).unwrap_or_default();
                (place.origin, before.matches('\n').count() + 1)
            });
            warning_json(problem.to_string(), line)
        }))
        .collect();
    let _ = write!(out, " \"warnings\": {}\n}}", Json::Array(warnings));
    out
}

fn warning_json(message: String, place: Option<(String, usize)>) -> Json {
    let mut fields = vec![("message".to_owned(), Json::from(message))];
    if let Some((file, line)) = place {
        fields.push(("file".to_owned(), Json::from(file)));
        fields.push(("line".to_owned(), Json::from(line)));
    }
    fields.into_iter().collect()
}
