//! JSON output of an offline plan.

use std::io::{self, Write};

use stoker_diagnostics::Severity;
use stoker_model::{InstanceIdx, Json};
use stoker_planner::{ExplainedPlan, FaultToleranceGroup, Plan};

use super::graph::Graph;

/// Writes one line per instance and per edge, so that text tools can compare two plans.
///
/// The output is streamed: a plan of ten thousand nodes can have a hundred million edges.
pub(super) fn write(
    out: &mut dyn Write,
    explained: &ExplainedPlan,
    warnings: &[String],
    graph: &Graph,
) -> io::Result<()> {
    let ExplainedPlan { plan, reasons, .. } = explained;
    out.write_all(b"{\"instances\": [")?;
    let mut comma = "";
    for instance in plan.instances() {
        let reason = reasons.of(instance.idx).map(ToString::to_string).unwrap_or_default();
        let (task, node, reason) = (quoted(instance.task), quoted(instance.node), quoted(&reason));
        let action = instance.verdict.action().as_str();
        write!(
            out,
            "{comma}\n  {{\"task\": {task}, \"node\": {node}, \"action\": \"{action}\", \"reason\": {reason}}}"
        )?;
        comma = ",";
    }
    out.write_all(b"\n ],\n \"edges\": [")?;
    let names = Names::new(plan);
    comma = "";
    for (before, after) in plan.edges() {
        let ((task, node), (other_task, other_node)) = (names.get(before), names.get(after));
        write!(out, "{comma}\n  [{task}@{node}, {other_task}@{other_node}]")?;
        comma = ",";
    }
    write!(out, "\n ],\n \"fault_tolerance_groups\": {},\n", groups(&plan.groups))?;
    writeln!(out, " \"warnings\": {}\n}}", warnings_json(explained, warnings, graph))
}

/// Quoted halves of instance names, `"task` and `node"`, rendered once: there are few tasks and nodes but
/// many instances.
struct Names<'p> {
    plan: &'p Plan,
    tasks: Vec<String>,
    nodes: Vec<String>,
}

impl<'p> Names<'p> {
    fn new(plan: &'p Plan) -> Self {
        let head = |text: &str| quoted(text).strip_suffix('"').map(str::to_owned).unwrap_or_default();
        let tail = |text: &str| quoted(text).strip_prefix('"').map(str::to_owned).unwrap_or_default();
        Self {
            plan,
            tasks: plan.tasks.iter().map(|task| head(&task.name)).collect(),
            nodes: plan.nodes.iter().map(|uid| tail(uid)).collect(),
        }
    }

    fn get(&self, instance_idx: InstanceIdx) -> (&str, &str) {
        let task_idx = self.plan.tasks.partition_point(|task| task.first <= instance_idx) - 1;
        let task = &self.plan.tasks[task_idx];
        let node_idx = task.nodes[instance_idx.index() - task.first.index()];
        (&self.tasks[task_idx], &self.nodes[node_idx.index()])
    }
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn groups(groups: &[FaultToleranceGroup]) -> Json {
    let group = |group: &FaultToleranceGroup| {
        let fields = [
            ("name", Json::from(group.name.as_str())),
            ("node_ids", Json::from(group.nodes.clone())),
            ("fault_tolerance", Json::from(group.max_failed)),
        ];
        fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Json>()
    };
    Json::Array(groups.iter().map(group).collect())
}

/// Warnings of reading the input, followed by those of planning.
fn warnings_json(explained: &ExplainedPlan, warnings: &[String], graph: &Graph) -> Json {
    let plan_warnings = explained.problems.iter().filter(|problem| problem.severity == Severity::Warning);
    let input_warnings = warnings.iter().map(|warning| warning_json(warning.clone(), None));
    let warnings = input_warnings.chain(plan_warnings.map(|problem| {
        let location =
            problem.location.task.as_ref().and_then(|task| graph.locate(task, &problem.location.path));
        let line = location.map(|(text, span)| (text.origin.clone(), span.start.line));
        warning_json(problem.to_string(), line)
    }));
    Json::Array(warnings.collect())
}

fn warning_json(message: String, location: Option<(String, u32)>) -> Json {
    let mut fields = vec![("message".to_owned(), Json::from(message))];
    if let Some((file, line)) = location {
        fields.push(("file".to_owned(), Json::from(file)));
        fields.push(("line".to_owned(), Json::from(line)));
    }
    fields.into_iter().collect()
}
