//! Reads a task from a node.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_model::{Json, JsonMap, TASK_FIELDS, Task, TaskField, canonical_field};
use stoker_yaml::{Node, NodeKind};

use super::fields::{ON_DRIFT, OTHER_FIELDS, check_field};
use crate::codes;
use crate::expression::{Expressions, is_computed};
use crate::reader::{did_you_mean, head, json, key_text, report_wrong_type, string_with_length};

/// Reads the tasks of one text.
pub(crate) struct Tasks<'e, 't> {
    expressions: &'e mut Expressions<'t>,
}

/// Names of the task id; responses contain both.
const ID: &str = "id";
const ID_ALIAS: &str = "task_name";

/// The database id of a row, present in responses and ignored in uploads.
const ROW_ID: &str = "db_id";

impl<'e, 't> Tasks<'e, 't> {
    pub(crate) fn new(expressions: &'e mut Expressions<'t>) -> Self {
        Self { expressions }
    }

    pub(crate) fn read(&mut self, node: &Node, problems: &mut Diagnostics) -> Option<Task> {
        let NodeKind::Map(entries) = &node.kind else {
            report_wrong_type(node, "a task, which is a map with `id`", problems);
            return None;
        };
        let (n_errors, mark) = (problems.n_errors(), problems.mark());
        let name = read_id(node, problems);
        let fields = read_fields(entries, problems);
        self.expressions.check_all(node, problems);
        if let Some(name) = node.get(ID).and_then(Node::as_str) {
            problems.prefix_since(mark, &format!("task {}: ", quoted(name)));
        }
        let is_valid = problems.n_errors() == n_errors;
        name.filter(|_| is_valid).map(|name| Task { name, fields })
    }
}

fn read_id(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let id = node.get(ID);
    let name = problems.in_key(ID, |problems| match id {
        None => {
            let help = node.get(ID_ALIAS).map(|_| format!("use `{ID}` instead of `{ID_ALIAS}`"));
            problems.error(codes::MISSING, head(node), "`id` is missing").help = help;
            None
        }
        Some(id) if is_computed(id) => {
            let problem = problems.error(codes::EXPRESSION, head(id), "`id` cannot be computed");
            problem.set_help("ids are needed before expressions are evaluated; write the id as text");
            None
        }
        Some(id) => string_with_length(1..=255)(id, problems),
    });
    if let (Some(id), Some(alias)) = (id, node.get(ID_ALIAS))
        && id.kind != alias.kind
    {
        problems.in_key(ID_ALIAS, |problems| report_conflict(ID, ID_ALIAS, alias, problems));
    }
    name
}

/// Reads the fields by canonical name, in document order.
fn read_fields(entries: &[(Node, Node)], problems: &mut Diagnostics) -> JsonMap {
    let mut fields = JsonMap::with_capacity(entries.len());
    for (key, value) in entries {
        let Some(name) = key_text(key, problems) else { continue };
        if [ID, ID_ALIAS, ROW_ID].contains(&name) {
            continue;
        }
        let canonical = canonical_field(name);
        let json_value = problems.in_key(name, |problems| {
            warn_of_typo(name, key, problems);
            // A check of nodes does not evaluate expressions.
            if !is_computed(value) || canonical == ON_DRIFT {
                check_field(canonical, value, problems);
            }
            json(value, problems)
        });
        let Some(json_value) = json_value else { continue };
        match fields.get(canonical) {
            // Keys are distinct, so the existing value has the other spelling.
            Some(old) if !is_equivalent(canonical, old, &json_value) => {
                problems.in_key(name, |problems| report_conflict(other_spelling(name), name, key, problems));
            }
            Some(_) => {}
            None => _ = fields.insert(canonical.to_owned(), json_value),
        }
    }
    fields
}

/// Returns the other spelling of a field.
fn other_spelling(name: &str) -> &str {
    let is_either = |field: &&TaskField| field.canonical == name || field.alias == Some(name);
    let field = TASK_FIELDS.iter().find(is_either);
    let other = field
        .map(|field| if field.canonical == name { field.alias.unwrap_or(name) } else { field.canonical });
    other.unwrap_or(name)
}

/// Reports whether two values of a field are equivalent. A single role equals a list with one role.
fn is_equivalent(canonical: &str, old: &Json, new: &Json) -> bool {
    let is_list_of =
        |list: &Json, one: &Json| matches!(list, Json::Array(items) if items[..] == [one.clone()]);
    old == new || (canonical == "roles" && (is_list_of(old, new) || is_list_of(new, old)))
}

fn report_conflict(first: &str, second: &str, node: &Node, problems: &mut Diagnostics) {
    let message = format!("`{first}` and `{second}` are two names of one field but have different values");
    problems.error(codes::CONFLICT, node.span, message).set_help("remove one of them");
}

/// Warns about an unknown field whose name is similar to a known one: probably a typing error.
fn warn_of_typo(name: &str, key: &Node, problems: &mut Diagnostics) {
    let known_fields = || {
        let own = TASK_FIELDS.iter().flat_map(|field| [Some(field.canonical), field.alias]).flatten();
        own.chain(OTHER_FIELDS.iter().copied()).chain([ID])
    };
    if known_fields().any(|field| field == name) {
        return;
    }
    if let Some(help) = did_you_mean(name, known_fields(), problems) {
        let message = format!("unknown field {} has no effect", quoted(name));
        problems.warning(codes::UNKNOWN_KEY, key.span, message).set_help(help);
    }
}
