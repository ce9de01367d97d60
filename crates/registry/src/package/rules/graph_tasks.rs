//! `deployment_tasks.yaml`: tasks of the deployment graph.
//!
//! What every graph has to keep is judged by its reader; here is what plugins have to keep besides.

use stoker_conditions::Dialect;
use stoker_graph::Pattern;
use stoker_manifest::graph::read_tasks_node;
use stoker_manifest::reader::{list_of, word, wrong_kind};
use stoker_manifest::{Problem, Problems, codes as manifest};
use stoker_model::TaskType;
use stoker_yaml::{Node, NodeKind, Scalar};

use super::parameters::{NEED_PARAMETERS, check_parameters};
use super::stage_tasks::{check_stage, role as listed_role};
use crate::package::plugin::Documents;
use crate::package::shapes::{condition_as, head, is_computed, is_plain_name, shown};
use crate::package::version::PackageVersion;
use crate::package::{Context, codes};

pub(in crate::package) fn graph_tasks(
    node: &Node,
    context: Context<'_>,
    documents: &mut Documents,
    problems: &mut Problems,
) {
    let Some(items) = node.as_seq() else {
        wrong_kind(node, "a list of tasks", problems);
        return;
    };
    let tasks = read_tasks_node(node, context.text, problems);
    for (item_idx, item) in items.iter().enumerate() {
        problems.in_item(item_idx, |problems| Task { node: item, context }.check(problems));
    }
    documents.graph_tasks = tasks.unwrap_or_default();
}

/// What the reader of graphs says, in the words of packages: a problem that is told better here is left out.
pub(in crate::package) fn refined(mut problem: Problem) -> Option<Problem> {
    let field = problem.path.split_once("].").map_or("", |(_, field)| field);
    match (problem.code, field) {
        (manifest::CHOICE, "type") => problem.code = codes::TASK_TYPE_UNKNOWN,
        (manifest::FORM | manifest::KIND, "stage") => return None,
        (manifest::DUPLICATE_TASK, _) if problem.span.is_none() => return None,
        _ => {}
    }
    Some(problem)
}

struct Task<'a> {
    node: &'a Node,
    context: Context<'a>,
}

impl Task<'_> {
    fn check(&self, problems: &mut Problems) {
        // What is no map has been reported, and so are fields of the wrong kind.
        if self.node.as_map().is_none() {
            return;
        }
        let task_type = self.node.get("type").and_then(Node::as_str).unwrap_or_default();
        self.check_id(problems);
        self.check_type(task_type, problems);
        self.check_role(task_type, problems);
        self.check_stage(problems);
        self.check_events(problems);
        self.check_condition(problems);
        match self.node.get("parameters") {
            Some(parameters) => {
                problems.in_key("parameters", |problems| check_parameters(parameters, task_type, problems));
            }
            None if NEED_PARAMETERS.contains(&task_type) => self.missing("parameters", problems),
            None => {}
        }
    }

    fn missing(&self, key: &str, problems: &mut Problems) {
        let span = head(self.node);
        problems.in_key(key, |problems| {
            problems.error(codes::FIELD_REQUIRED, span, format!("`{key}` is missing"));
        });
    }

    fn check_id(&self, problems: &mut Problems) {
        let Some(id) = self.node.get("id") else { return };
        let Some(text) = id.as_str().filter(|text| !text.is_empty()) else { return };
        let is_all = text == "*" && self.context.version >= PackageVersion::V4;
        if !is_plain_name(text) && !is_all {
            let message = format!("must be letters, digits, `_` and `-`, this is {}", shown(text));
            problems.in_key("id", |problems| {
                problems.error(codes::FIELD_PATTERN, id.span, message);
            });
        }
    }

    /// Types that graphs know and plugins may not use; unknown ones have been reported.
    fn check_type(&self, task_type: &str, problems: &mut Problems) {
        let is_graphs_own = TaskType::parse(task_type).is_some() && !TYPES.contains(&task_type);
        let Some(node) = self.node.get("type").filter(|_| is_graphs_own) else { return };
        let message = format!("plugins have no tasks of type {}", shown(task_type));
        problems.in_key("type", |problems| {
            problems
                .error(codes::TASK_TYPE_UNKNOWN, node.span, message)
                .help(format!("types are {}", TYPES.join(", ")));
        });
    }

    fn check_role(&self, task_type: &str, problems: &mut Problems) {
        let places = ["role", "roles", "groups", "tags"];
        let given = places.iter().filter_map(|key| Some((*key, self.node.get(key)?)));
        if self.context.version == PackageVersion::V3 {
            let role = self.node.get("role").or_else(|| self.node.get("roles"));
            match role {
                Some(role) if is_computed(role) => {}
                Some(role) => _ = problems.in_key("role", |problems| listed_role(role, problems)),
                None if NEED_ROLE.contains(&task_type) => self.missing("role", problems),
                None => {}
            }
            return;
        }
        let mut is_placed = false;
        for (key, node) in given {
            is_placed = true;
            problems.in_key(key, |problems| check_places(node, problems));
        }
        if !is_placed && task_type != "stage" {
            let message = "the task has no `role`, `roles`, `groups` or `tags` and runs nowhere by itself";
            problems.warning(codes::FIELD_REQUIRED, head(self.node), message);
        }
    }

    fn check_stage(&self, problems: &mut Problems) {
        if self.context.version == PackageVersion::V3 {
            return;
        }
        let is_given = |stage: &&Node| !is_computed(stage) && stage.as_scalar() != Some(&Scalar::Null);
        if let Some(stage) = self.node.get("stage").filter(is_given) {
            problems.in_key("stage", |problems| check_stage(stage, self.context.version, problems));
        }
    }

    fn check_events(&self, problems: &mut Problems) {
        let events = self.node.get("reexecute_on").filter(|events| events.as_seq().is_some());
        if let Some(events) = events.filter(|_| self.context.version >= PackageVersion::V4) {
            problems.in_key("reexecute_on", |problems| list_of(word(&["deploy_changes"]))(events, problems));
        }
    }

    fn check_condition(&self, problems: &mut Problems) {
        if let Some(condition) = self.node.get("condition").filter(|condition| condition.as_str().is_some()) {
            problems.in_key("condition", |problems| {
                condition_as(Dialect::Task, condition, self.context.text, problems)
            });
        }
    }
}

const TYPES: &[&str] =
    &["copy_files", "group", "puppet", "reboot", "shell", "skipped", "stage", "sync", "upload_file"];

const NEED_ROLE: &[&str] = &["shell", "group", "copy_files", "sync", "upload_file"];

/// Names, `*`, or regular expressions: one of them, or a list.
fn check_places(node: &Node, problems: &mut Problems) {
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(text)) => check_place(text, node, problems),
        NodeKind::Seq(items) => {
            for (item_idx, item) in items.iter().enumerate() {
                let Some(text) = item.as_str() else { continue };
                problems.in_item(item_idx, |problems| check_place(text, item, problems));
            }
        }
        // Computed, or reported.
        _ => {}
    }
}

fn check_place(text: &str, node: &Node, problems: &mut Problems) {
    let mistake = match Pattern::new(text) {
        Ok(Pattern::Regex(_)) => return,
        Ok(Pattern::Exact(_)) if text == "*" || is_plain_name(text) => return,
        Ok(Pattern::Exact(_)) => {
            format!("must be a name, `*` or `/a regular expression/`, this is {}", shown(text))
        }
        Err(message) => format!("not a regular expression: {message}"),
    };
    problems.error(codes::ROLE_FORMAT, node.span, mistake);
}
