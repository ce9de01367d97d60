//! `deployment_tasks.yaml`: tasks of the deployment graph.
//!
//! General rules of graphs are checked by the graph reader; this module checks the additional rules for
//! plugins.

use stoker_conditions::Dialect;
use stoker_diagnostics::{Diagnostic, Diagnostics, quoted};
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, NamePattern, Scope, Source, merge};
use stoker_manifest::codes as manifest;
use stoker_manifest::graph::read_tasks_node;
use stoker_manifest::reader::{list_of, one_of, report_wrong_type};
use stoker_model::{Task as GraphTask, TaskType};
use stoker_yaml::{Node, NodeKind, Scalar};

use super::parameters::{NEED_PARAMETERS, check_parameters};
use super::stage_tasks::{check_stage, role as listed_role};
use crate::package::plugin::Documents;
use crate::package::shapes::{condition_as, head, is_computed, is_inline_expression, is_plain_name};
use crate::package::version::PackageVersion;
use crate::package::{Context, codes};

pub(in crate::package) fn graph_tasks(
    node: &Node,
    context: Context<'_>,
    documents: &mut Documents,
    problems: &mut Diagnostics,
) {
    let Some(items) = node.as_seq() else {
        report_wrong_type(node, "a list of tasks", problems);
        return;
    };
    let tasks = read_tasks_node(node, context.text, problems);
    for (item_idx, item) in items.iter().enumerate() {
        problems.in_item(item_idx, |problems| Task { node: item, context }.check(problems));
    }
    documents.graph_tasks = tasks.unwrap_or_default();
    report_ignored_fields(items, &documents.graph_tasks, problems);
}

/// Reports fields without effect, which the check of graphs finds.
fn report_ignored_fields(items: &[Node], tasks: &[GraphTask], problems: &mut Diagnostics) {
    let plugin = Source::Plugin { name: String::new(), version: String::new() };
    let merged = merge(&[Layer::of_tasks(plugin, tasks)], MergeRules::default());
    let mut findings = stoker_graph::check(&merged, &GraphCheckOptions::new(Scope::Layer));
    findings.retain(|finding| finding.code == stoker_graph::codes::IGNORED_FIELD);
    for finding in findings {
        let name = finding.location.task.as_deref();
        let is_item = |(_, item): &(usize, &Node)| item.get("id").and_then(Node::as_str) == name;
        let Some((item_idx, item)) = items.iter().enumerate().find(is_item) else { continue };
        let field = finding.location.path.clone();
        let span = item.get(&field).map_or(head(item), head);
        problems.in_item(item_idx, |problems| {
            problems.in_key(&field, |problems| {
                let problem = problems.warning(codes::UNEXPECTED_FIELD, span, finding.message);
                problem.help = finding.help;
            });
        });
    }
}

/// Maps problems of the graph reader to package codes. `None` for problems that this module reports itself.
pub(in crate::package) fn refine(mut problem: Diagnostic) -> Option<Diagnostic> {
    let field = problem.location.path.split_once("].").map_or("", |(_, field)| field);
    match (&*problem.code, field) {
        (manifest::CHOICE, "type") => problem.code = codes::TASK_TYPE_UNKNOWN.into(),
        (manifest::FORM | manifest::TYPE, "stage") => return None,
        (manifest::DUPLICATE_TASK, _) if problem.location.span.is_none() => return None,
        _ => {}
    }
    Some(problem)
}

struct Task<'a> {
    node: &'a Node,
    context: Context<'a>,
}

impl Task<'_> {
    fn check(&self, problems: &mut Diagnostics) {
        // Entries that are not maps were reported by the graph reader.
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

    fn missing(&self, key: &str, problems: &mut Diagnostics) {
        let span = head(self.node);
        problems.in_key(key, |problems| {
            problems.error(codes::FIELD_REQUIRED, span, format!("`{key}` is missing"));
        });
    }

    fn check_id(&self, problems: &mut Diagnostics) {
        let Some(id) = self.node.get("id") else { return };
        let Some(text) = id.as_str().filter(|text| !text.is_empty()) else { return };
        let is_all = text == "*" && self.context.version >= PackageVersion::V4;
        if !is_plain_name(text) && !is_all {
            let message = format!("must consist of letters, digits, `_` and `-`, got {}", quoted(text));
            problems.in_key("id", |problems| {
                problems.error(codes::FIELD_PATTERN, id.span, message);
            });
        }
    }

    /// Rejects types that graphs support but plugins may not use. Unknown types were reported by the graph
    /// reader. A task without a type overrides a task of the release or cluster.
    fn check_type(&self, task_type: &str, problems: &mut Diagnostics) {
        if self.node.get("type").is_none() {
            let message = "`type` is missing, so a task of the release or cluster must have this id";
            problems.in_key("type", |problems| {
                problems.warning(codes::FIELD_REQUIRED, head(self.node), message);
            });
        }
        let is_graph_only = TaskType::parse(task_type).is_some() && !TYPES.contains(&task_type);
        let Some(node) = self.node.get("type").filter(|_| is_graph_only) else { return };
        let message = format!("task type {} is not allowed in plugins", quoted(task_type));
        problems.in_key("type", |problems| {
            problems
                .error(codes::TASK_TYPE_UNKNOWN, node.span, message)
                .set_help(format!("use one of {}", TYPES.join(", ")));
        });
    }

    fn check_role(&self, task_type: &str, problems: &mut Diagnostics) {
        let keys = ["role", "roles", "groups", "tags"];
        let selectors = keys.iter().filter_map(|key| Some((*key, self.node.get(key)?)));
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
        let mut has_selector = false;
        for (key, node) in selectors {
            has_selector = true;
            problems.in_key(key, |problems| check_selectors(node, problems));
        }
        let is_override = self.node.get("type").is_none();
        if !has_selector && task_type != "stage" && !is_override {
            let message = "the task has no `role`, `roles`, `groups` or `tags`, so it runs on no node, unless it overrides \
                           a task that has";
            problems.warning(codes::FIELD_REQUIRED, head(self.node), message);
        }
    }

    fn check_stage(&self, problems: &mut Diagnostics) {
        if self.context.version == PackageVersion::V3 {
            return;
        }
        let is_given = |stage: &&Node| !is_computed(stage) && stage.as_scalar() != Some(&Scalar::Null);
        if let Some(stage) = self.node.get("stage").filter(is_given) {
            problems.in_key("stage", |problems| check_stage(stage, self.context.version, problems));
        }
    }

    fn check_events(&self, problems: &mut Diagnostics) {
        let events = self.node.get("reexecute_on").filter(|events| events.as_seq().is_some());
        if let Some(events) = events.filter(|_| self.context.version >= PackageVersion::V4) {
            problems
                .in_key("reexecute_on", |problems| list_of(one_of(&["deploy_changes"]))(events, problems));
        }
    }

    fn check_condition(&self, problems: &mut Diagnostics) {
        // The reader of graphs reports expressions that are written as text.
        let is_text = |node: &&Node| node.as_str().is_some_and(|text| !is_inline_expression(text));
        if let Some(condition) = self.node.get("condition").filter(is_text) {
            problems.in_key("condition", |problems| {
                condition_as(Dialect::Task, condition, self.context.text, problems)
            });
        }
    }
}

const TYPES: &[&str] =
    &["copy_files", "group", "puppet", "reboot", "shell", "skipped", "stage", "sync", "upload_file"];

const NEED_ROLE: &[&str] = &["shell", "group", "copy_files", "sync", "upload_file"];

/// Checks a role selector: a name, `*` or a regular expression, or a list of them.
fn check_selectors(node: &Node, problems: &mut Diagnostics) {
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(text)) => check_selector(text, node, problems),
        NodeKind::Seq(items) => {
            for (item_idx, item) in items.iter().enumerate() {
                let Some(text) = item.as_str() else { continue };
                problems.in_item(item_idx, |problems| check_selector(text, item, problems));
            }
        }
        // The value is computed, or its problem is already reported.
        _ => {}
    }
}

fn check_selector(text: &str, node: &Node, problems: &mut Diagnostics) {
    let message = match NamePattern::new(text) {
        Ok(NamePattern::Regex(_)) => return,
        Ok(NamePattern::Exact(_)) if text == "*" || is_plain_name(text) => return,
        Ok(NamePattern::Exact(_)) => {
            format!("must be a name, `*` or a `/regular expression/`, got {}", quoted(text))
        }
        Err(error) => format!("invalid regular expression: {error}"),
    };
    problems.error(codes::ROLE_FORMAT, node.span, message);
}
