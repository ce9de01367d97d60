//! Diagrams of plans.

use clap::ValueEnum;
use stoker_client::RestRequest;
use stoker_diagnostics::Diagnostic;
use stoker_model::{ErrorChain, Task};
use stoker_pictures::{
    Appearance, DefinitionFilter, Diagram, Dot, Mermaid, Svg, VERTICES_MAX, draw_definitions,
};
use stoker_planner::{Instance, InstanceAction, InstanceFilter, Plan, draw_plan};

use super::Format;
use crate::exit::{Exit, Failure, Outcome};

/// Diagram options.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Diagram options")]
pub(super) struct DiagramArgs {
    /// Content of the diagram: task `instances` of the plan, or `tasks` as defined [default: instances]
    #[arg(long, value_name = "instances|tasks", hide_possible_values = true)]
    graph: Option<Graph>,

    /// Task to draw; can be repeated or comma-separated; with `--graph tasks`, other tasks are drawn as skipped
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    only_task: Vec<String>,

    /// UID of a node to draw; can be repeated or comma-separated
    #[arg(long, value_name = "UID", value_delimiter = ',')]
    only_node: Vec<String>,

    /// Draw only this task and its direct predecessors
    #[arg(long, value_name = "TASK")]
    parents_of: Option<String>,

    /// Omit skipped task instances from the diagram
    #[arg(long)]
    runs_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Graph {
    Instances,
    Tasks,
}

impl DiagramArgs {
    /// Rejects diagram options that have no effect.
    pub(super) fn check(&self, format: Format) -> Outcome {
        let is_diagram = matches!(format, Format::Dot | Format::Svg | Format::Mermaid);
        let options = [
            ("--graph", self.graph.is_some()),
            ("--only-task", !self.only_task.is_empty()),
            ("--only-node", !self.only_node.is_empty()),
            ("--parents-of", self.parents_of.is_some()),
            ("--runs-only", self.runs_only),
        ];
        if let Some((name, _)) = options.iter().find(|(_, is_set)| *is_set && !is_diagram) {
            let help = match *name {
                "--only-task" => "to plan only some tasks, use `--only-tasks`",
                "--only-node" => "to plan only some nodes, use `--only-nodes`",
                _ => "pass `--output svg`, `dot` or `mermaid`",
            };
            return Err(usage(format!("`{name}` needs a diagram format"), help));
        }
        let needs_plan = |name: &str| matches!(name, "--only-node" | "--runs-only");
        match options.iter().find(|(name, is_set)| *is_set && needs_plan(name)) {
            Some((name, _)) if self.graph == Some(Graph::Tasks) => {
                let help = "omit it, or omit `--graph tasks` to draw the plan";
                Err(usage(format!("`{name}` conflicts with `--graph tasks`"), help))
            }
            _ => Ok(()),
        }
    }

    /// Adds the options to a request to the server.
    pub(super) fn add_query<'r>(&self, request: RestRequest<'r>, format: Format) -> RestRequest<'r> {
        let format = match format {
            Format::Svg => "svg",
            Format::Mermaid => "mermaid",
            _ => "dot",
        };
        let joined = |list: &[String]| (!list.is_empty()).then(|| list.join(","));
        request
            .query("format", format)
            .query_opt("graph", (self.graph == Some(Graph::Tasks)).then_some("tasks"))
            .query_opt("task", joined(&self.only_task))
            .query_opt("node", joined(&self.only_node))
            .query_opt("parents_of", self.parents_of.as_ref())
            .query_opt("runs_only", self.runs_only.then_some(1))
    }

    pub(super) fn draw(&self, format: Format, plan: &Plan, tasks: &[Task]) -> Outcome<String> {
        let drawing = self.drawing(format, plan, tasks)?;
        Ok(match format {
            Format::Svg => Svg(&drawing).to_string(),
            Format::Mermaid => Mermaid(&drawing).to_string(),
            _ => Dot(&drawing).to_string(),
        })
    }

    fn drawing(&self, format: Format, plan: &Plan, tasks: &[Task]) -> Outcome<Diagram> {
        let unknown = |error: &dyn std::error::Error| {
            usage(ErrorChain(error).to_string(), "check the names in `--tasks` and `--nodes`")
        };
        if self.graph == Some(Graph::Tasks) {
            let selected = (!self.only_task.is_empty()).then(|| self.only_task.clone());
            let filter = DefinitionFilter {
                tasks: selected,
                parents_for: self.parents_of.clone(),
                remove: Vec::new(),
            };
            return draw_definitions(tasks, &filter).map_err(|error| unknown(&error));
        }
        let filter = InstanceFilter {
            tasks: self.only_task.clone(),
            nodes: self.only_node.clone(),
            parents_of: self.parents_of.clone(),
            running_only: self.runs_only,
            // DOT output is input for other tools and has no limit; the other formats must stay readable.
            n_max: (format != Format::Dot).then_some(VERTICES_MAX),
        };
        draw_plan(plan, &filter, &|instance: &Instance<'_>| match instance.verdict.action() {
            InstanceAction::Run => Appearance::Pending,
            InstanceAction::Skip => Appearance::WillSkip,
        })
        .map_err(|error| unknown(&error))
    }
}

fn usage(message: String, help: &str) -> Failure {
    Failure::new(Exit::Usage, Diagnostic::plain(message).help(help))
}
