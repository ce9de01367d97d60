//! A plan as a picture.

use clap::ValueEnum;
use stoker_client::Request;
use stoker_model::Task;
use stoker_pictures::{Dot, Drawing, Filter, Looks, Mermaid, Svg, VERTICES_MAX, definitions};
use stoker_planner::{Action, Instance, InstanceFilter, Plan, draw};

use super::Format;
use crate::diagnostic::Diagnostic;
use crate::exit::{Exit, Failure, Outcome};

/// What is drawn.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Pictures")]
pub(super) struct PictureArgs {
    /// Draw the task instances of the plan (the default), or the tasks as they are written
    #[arg(long, value_name = "instances|tasks", hide_possible_values = true)]
    graph: Option<Graph>,

    /// Draw only these tasks; with `--graph tasks`, draw all others as skipped
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    only_task: Vec<String>,

    /// Draw only these nodes
    #[arg(long, value_name = "UID", value_delimiter = ',')]
    only_node: Vec<String>,

    /// Draw only this task and what is directly before it
    #[arg(long, value_name = "TASK")]
    parents_of: Option<String>,

    /// Draw only what runs
    #[arg(long)]
    runs_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Graph {
    Instances,
    Tasks,
}

impl PictureArgs {
    /// Refuses what has no meaning, instead of ignoring it.
    pub(super) fn check(&self, format: Format) -> Outcome {
        let is_picture = matches!(format, Format::Dot | Format::Svg | Format::Mermaid);
        let is_given = [
            ("--graph", self.graph.is_some()),
            ("--only-task", !self.only_task.is_empty()),
            ("--only-node", !self.only_node.is_empty()),
            ("--parents-of", self.parents_of.is_some()),
            ("--runs-only", self.runs_only),
        ];
        if let Some((name, _)) = is_given.iter().find(|(_, is_given)| *is_given && !is_picture) {
            let help = match *name {
                "--only-task" => "to plan only some tasks, use `--only-tasks`",
                "--only-node" => "to plan only some nodes, use `--only-nodes`",
                _ => "add `--output svg`, `dot` or `mermaid`",
            };
            return Err(usage(format!("`{name}` says what is drawn, and nothing is"), help));
        }
        let is_of_plan = |name: &str| matches!(name, "--only-node" | "--runs-only");
        match is_given.iter().find(|(name, is_given)| *is_given && is_of_plan(name)) {
            Some((name, _)) if self.graph == Some(Graph::Tasks) => {
                let help = "leave it out, or leave out `--graph tasks` to draw the plan";
                Err(usage(format!("`{name}` is about a plan, and `--graph tasks` draws none"), help))
            }
            _ => Ok(()),
        }
    }

    /// The same asked of a server.
    pub(super) fn asked<'r>(&self, request: Request<'r>, format: Format) -> Request<'r> {
        let word = match format {
            Format::Svg => "svg",
            Format::Mermaid => "mermaid",
            _ => "dot",
        };
        let joined = |list: &[String]| (!list.is_empty()).then(|| list.join(","));
        request
            .query("format", word)
            .maybe("graph", (self.graph == Some(Graph::Tasks)).then_some("tasks"))
            .maybe("task", joined(&self.only_task))
            .maybe("node", joined(&self.only_node))
            .maybe("parents_of", self.parents_of.as_ref())
            .maybe("runs_only", self.runs_only.then_some(1))
    }

    pub(super) fn draw(&self, format: Format, plan: &Plan, tasks: &[Task]) -> Outcome<String> {
        let drawing = self
            .drawing(format, plan, tasks)
            .map_err(|message| usage(message, "see `--tasks` and `--nodes`"))?;
        Ok(match format {
            Format::Svg => Svg(&drawing).to_string(),
            Format::Mermaid => Mermaid(&drawing).to_string(),
            _ => Dot(&drawing).to_string(),
        })
    }

    fn drawing(&self, format: Format, plan: &Plan, tasks: &[Task]) -> Result<Drawing, String> {
        if self.graph == Some(Graph::Tasks) {
            let chosen = (!self.only_task.is_empty()).then(|| self.only_task.clone());
            let filter = Filter { tasks: chosen, parents_for: self.parents_of.clone(), remove: Vec::new() };
            return definitions(tasks, &filter);
        }
        let filter = InstanceFilter {
            tasks: self.only_task.clone(),
            nodes: self.only_node.clone(),
            parents_of: self.parents_of.clone(),
            runs_only: self.runs_only,
            // DOT is for tools that take what they can; the others are for eyes.
            n_max: (format != Format::Dot).then_some(VERTICES_MAX),
        };
        draw(plan, &filter, &|instance: &Instance<'_>| match instance.verdict.action() {
            Action::Run => Looks::Pending,
            Action::Skip => Looks::ToSkip,
        })
    }
}

fn usage(message: String, help: &str) -> Failure {
    Failure::new(Exit::Usage, Diagnostic::error(message).help(Some(help.to_owned())))
}
