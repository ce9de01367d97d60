//! The body of a graph upload: a graph, or only its tasks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stoker_diagnostics::{Diagnostic, Diagnostics};
use stoker_model::{
    GraphMetadata, GraphType, JsonMap, NodeErrorKind, OnDefinitionChange, Owner, OwnerKind, Task,
    canonical_field,
};
use stoker_yaml::{Node, NodeKind, Span};

use crate::codes;
use crate::expression::Expressions;
use crate::parse::{Format, ParseOptions, parse_with};
use crate::reader::{
    FieldUpdate, Fields, boolean, enum_of, head, identifier, json_map, list_of, one_of, report_wrong_type,
    string, string_with_length,
};
use crate::task::Tasks;
use crate::validated::Validated;

/// A graph as uploaded. Missing fields are absent, so that an update does not change them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphBody {
    pub graph_type: Option<GraphType>,
    /// `model` and `model_id`, for requests whose path does not name the owner.
    pub owner: Option<Owner>,
    /// `relations` of a response, which name owner and graph type. Requests whose path names the owner ignore them, so
    /// that a response can be uploaded again, to another owner too.
    pub relations: Vec<OwnerRelation>,
    pub name: FieldUpdate<String>,
    pub node_filter: FieldUpdate<String>,
    pub on_definition_change: FieldUpdate<OnDefinitionChange>,
    pub on_success: FieldUpdate<JsonMap>,
    pub on_error: FieldUpdate<JsonMap>,
    pub on_stop: FieldUpdate<JsonMap>,
    pub tasks: Option<Vec<Task>>,
}

/// The owner of a graph with the type that the graph has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRelation {
    pub graph_type: Option<GraphType>,
    pub owner: Owner,
}

impl GraphBody {
    /// Applies the given fields to existing metadata; null removes a value. Returns the tasks, if given.
    pub fn apply(self, metadata: &mut GraphMetadata) -> Option<Vec<Task>> {
        self.name.apply(&mut metadata.name);
        self.node_filter.apply(&mut metadata.node_filter);
        self.on_definition_change.apply(&mut metadata.on_definition_change);
        self.on_success.apply(&mut metadata.on_success);
        self.on_error.apply(&mut metadata.on_error);
        self.on_stop.apply(&mut metadata.on_stop);
        self.tasks
    }

    /// Returns the metadata and tasks of a new graph.
    pub fn into_parts(self) -> (GraphMetadata, Vec<Task>) {
        let mut metadata = GraphMetadata::default();
        let tasks = self.apply(&mut metadata);
        (metadata, tasks.unwrap_or_default())
    }
}

/// Reads a graph: a list of tasks, or a map with metadata and tasks. Duplicate keys are errors.
pub fn read(text: &str, format: Format) -> Validated<GraphBody> {
    read_with(text, format, &ParseOptions::default())
}

/// Like [`read`], with options: files on disk may have been accepted by more lenient readers.
pub fn read_with(text: &str, format: Format, options: &ParseOptions) -> Validated<GraphBody> {
    let parsed = parse_with(text, format, options);
    let mut problems = Diagnostics::after(parsed.problems);
    let body = parsed.node.and_then(|node| read_node(&node, text, &mut problems));
    Validated::new(body, problems)
}

/// Reads a graph that is part of a larger document; `text` is that document.
pub fn read_node(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<GraphBody> {
    let mut reader = Reader { expressions: Expressions::new(text) };
    match &node.kind {
        NodeKind::Seq(_) => {
            let tasks = reader.tasks(node, problems)?;
            Some(GraphBody { tasks: Some(tasks), ..GraphBody::default() })
        }
        NodeKind::Map(_) => reader.graph(Fields::new(node, problems)?),
        NodeKind::Scalar(_) => {
            report_wrong_type(node, "a list of tasks or a map with `tasks`", problems);
            None
        }
    }
}

/// Returns the line numbers of all tasks and their fields by canonical name; the empty name is the task
/// itself.
pub fn task_lines(node: &Node) -> BTreeMap<String, BTreeMap<String, u32>> {
    let list = node.get("tasks").unwrap_or(node);
    // A single task counts as a list of one.
    let tasks = list.as_seq().unwrap_or(std::slice::from_ref(list));
    let id = |task: &Node| {
        task.get("id").or_else(|| task.get("task_name")).and_then(Node::as_str).map(str::to_owned)
    };
    tasks.iter().filter_map(|task| Some((id(task)?, lines_of_task(task)))).collect()
}

fn lines_of_task(task: &Node) -> BTreeMap<String, u32> {
    let mut lines = BTreeMap::from([(String::new(), task.span.start.line)]);
    if let NodeKind::Map(entries) = &task.kind {
        let fields = entries.iter().filter_map(|(key, _)| Some((key.as_str()?, key.span.start.line)));
        lines.extend(fields.map(|(name, line)| (canonical_field(name).to_owned(), line)));
    }
    lines
}

/// Reads a list of tasks; a single task counts as a list of one.
pub fn read_tasks(text: &str, format: Format) -> Validated<Vec<Task>> {
    let parsed = parse_with(text, format, &ParseOptions::default());
    let mut problems = Diagnostics::after(parsed.problems);
    let mut reader = Reader { expressions: Expressions::new(text) };
    let tasks = parsed.node.and_then(|node| reader.tasks(&node, &mut problems));
    Validated::new(tasks, problems)
}

/// Reads a list of tasks that is part of a larger document; `text` is that document.
pub fn read_tasks_node(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<Vec<Task>> {
    Reader { expressions: Expressions::new(text) }.tasks(node, problems)
}

/// Reads one task.
pub fn read_task(text: &str, format: Format) -> Validated<Task> {
    let parsed = parse_with(text, format, &ParseOptions::default());
    let mut problems = Diagnostics::after(parsed.problems);
    let mut expressions = Expressions::new(text);
    let task = parsed.node.and_then(|node| Tasks::new(&mut expressions).read(&node, &mut problems));
    Validated::new(task, problems)
}

/// Reads a task that is part of a larger document; `text` is that document.
pub fn read_task_node(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<Task> {
    Tasks::new(&mut Expressions::new(text)).read(node, problems)
}

struct Reader<'t> {
    expressions: Expressions<'t>,
}

impl Reader<'_> {
    fn graph(&mut self, mut fields: Fields<'_, '_>) -> Option<GraphBody> {
        let n_errors = fields.problems().n_errors();
        let body = GraphBody {
            name: fields.update("name", string_with_length(0..=255)),
            node_filter: fields.update("node_filter", |node, problems| self.node_filter(node, problems)),
            on_definition_change: fields.update(
                "on_definition_change",
                enum_of(OnDefinitionChange::NAMES, OnDefinitionChange::parse),
            ),
            on_success: fields.update("on_success", callback),
            on_error: fields.update("on_error", callback),
            on_stop: fields.update("on_stop", callback),
            tasks: fields.optional("tasks", |node, problems| self.tasks(node, problems)),
            graph_type: fields.optional("type", graph_type),
            owner: owner(&mut fields),
            relations: fields.optional("relations", list_of(relation)).unwrap_or_default(),
        };
        // Present in responses; ignored so that a response can be uploaded again.
        fields.ignore(&["id"]);
        let problems = fields.finish();
        (problems.n_errors() == n_errors).then_some(body)
    }

    /// Reads a predicate over a node; blank text selects all nodes.
    fn node_filter(&mut self, node: &Node, problems: &mut Diagnostics) -> Option<String> {
        let filter = string_with_length(0..=4096)(node, problems)?;
        if !filter.trim().is_empty() {
            self.expressions.check(node, problems);
        }
        Some(filter)
    }

    fn tasks(&mut self, node: &Node, problems: &mut Diagnostics) -> Option<Vec<Task>> {
        let items = match &node.kind {
            NodeKind::Seq(items) => &items[..],
            NodeKind::Map(_) => {
                return Tasks::new(&mut self.expressions).read(node, problems).map(|task| vec![task]);
            }
            NodeKind::Scalar(_) => {
                report_wrong_type(node, "a list of tasks", problems);
                return None;
            }
        };
        let mut reader = Tasks::new(&mut self.expressions);
        let mut tasks = Vec::with_capacity(items.len());
        for (item_idx, item) in items.iter().enumerate() {
            tasks.extend(problems.in_item(item_idx, |problems| reader.read(item, problems)));
        }
        report_duplicates(items, problems);
        (tasks.len() == items.len()).then_some(tasks)
    }
}

/// Maximum number of ids listed in the summary of duplicates.
const DUPLICATES_NAMED_MAX: usize = 50;

/// Reports each repeated id with the line of its first definition, and the summary message that Fuel clients
/// expect.
fn report_duplicates(items: &[Node], problems: &mut Diagnostics) {
    let mut first_of: HashMap<&str, Span> = HashMap::new();
    let mut duplicates = BTreeSet::new();
    for (item_idx, item) in items.iter().enumerate() {
        let Some((name, span)) = item.get("id").and_then(|id| Some((id.as_str()?, id.span))) else {
            continue;
        };
        let Some(first) = first_of.get(name) else {
            first_of.insert(name, span);
            continue;
        };
        duplicates.insert(name);
        let message = format!(
            "duplicate task `{name}` on line {}, first defined on line {}",
            span.start.line, first.start.line
        );
        problems.in_item(item_idx, |problems| {
            problems.in_key("id", |problems| {
                problems.error(codes::DUPLICATE_TASK, span, message).set_help("rename or remove one of them");
            });
        });
    }
    if !duplicates.is_empty() {
        let n_more = duplicates.len().saturating_sub(DUPLICATES_NAMED_MAX);
        let names: Vec<&str> = duplicates.into_iter().take(DUPLICATES_NAMED_MAX).collect();
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        let message = format!("Tasks duplication found: {}{more}", names.join(", "));
        problems.push(Diagnostic::error(codes::DUPLICATE_TASK, message));
    }
}

fn graph_type(node: &Node, problems: &mut Diagnostics) -> Option<GraphType> {
    let name = string(node, problems)?;
    match GraphType::new(&name) {
        Ok(graph_type) => Some(graph_type),
        Err(error) => {
            problems.error(codes::FORM, node.span, error.to_string());
            None
        }
    }
}

/// Reads `model` and `model_id`; without `model`, the owner is a cluster.
fn owner(fields: &mut Fields<'_, '_>) -> Option<Owner> {
    let has = |key: &str| fields.node().get(key).is_some();
    let (has_kind, has_id) = (has("model"), has("model_id"));
    let kind = fields.optional("model", enum_of(OwnerKind::NAMES, OwnerKind::parse));
    let id = fields.optional("model_id", identifier);
    if has_kind && !has_id {
        let span = head(fields.node());
        fields.problems().in_key("model_id", |problems| {
            problems.error(codes::MISSING, span, "`model` requires `model_id`");
        });
    }
    let kind = if has_kind { kind? } else { OwnerKind::Cluster };
    Some(Owner::new(kind, id?))
}

/// Reads an element of `relations`.
fn relation(node: &Node, problems: &mut Diagnostics) -> Option<OwnerRelation> {
    let mut fields = Fields::new(node, problems)?;
    fields.require(&["model_id"]);
    let graph_type = fields.optional("type", graph_type);
    let owner = owner(&mut fields);
    fields.finish();
    Some(OwnerRelation { graph_type, owner: owner? })
}

/// Node statuses that a callback may set; `deleted` removes the node from its cluster.
const CALLBACK_STATUSES: &[&str] = &[
    "ready",
    "discover",
    "provisioning",
    "provisioned",
    "deploying",
    "error",
    "removing",
    "stopped",
    "deleted",
];

/// Reads a callback: changes to the attributes of a node when the run of the graph on it ends.
fn callback(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    _ = fields.optional("node_attributes", |node, problems| {
        let mut fields = Fields::new(node, problems)?;
        fields.optional("status", one_of(CALLBACK_STATUSES));
        fields.optional("pending_addition", boolean);
        fields.optional("pending_deletion", boolean);
        fields.optional("error_msg", string);
        fields.optional("error_type", one_of(NodeErrorKind::NAMES));
        fields.finish_with_warnings();
        Some(())
    });
    fields.finish_with_warnings();
    json_map(node, problems)
}

#[cfg(test)]
mod tests;
