//! From a node to a task.

use stoker_model::{Json, JsonMap, Spelling, TASK_FIELDS, Task, canonical_field};
use stoker_yaml::{Node, NodeKind};

use super::fields::{OTHER_FIELDS, check_field};
use crate::expression::{Expressions, is_computed};
use crate::problem::{Problems, codes, quoted};
use crate::reader::{head, json, key_text, string_of, wrong_kind};

/// Reads tasks of one text.
pub(crate) struct Tasks<'e, 't> {
    expressions: &'e mut Expressions<'t>,
}

/// Names by which the id of a task goes in answers of ours.
const ID: &str = "id";
const ID_ALIAS: &str = "task_name";

/// The id of a row, which comes with answers of ours and means nothing in an upload.
const ROW_ID: &str = "db_id";

impl<'e, 't> Tasks<'e, 't> {
    pub(crate) fn new(expressions: &'e mut Expressions<'t>) -> Self {
        Self { expressions }
    }

    pub(crate) fn read(&mut self, node: &Node, problems: &mut Problems) -> Option<Task> {
        let NodeKind::Map(entries) = &node.kind else {
            wrong_kind(node, "a task, which is a map with `id` and `type`", problems);
            return None;
        };
        let (n_errors, mark) = (problems.n_errors(), problems.mark());
        let name = read_id(node, problems);
        let fields = read_fields(entries, problems);
        if !fields.contains_key("type") && node.get("type").is_none() {
            problems.in_key("type", |problems| {
                problems.error(codes::MISSING, head(node), "`type` is missing");
            });
        }
        self.expressions.check_all(node, problems);
        if let Some(name) = node.get(ID).and_then(Node::as_str) {
            problems.introduce(mark, &format!("task {}: ", quoted(name)));
        }
        let is_sound = problems.n_errors() == n_errors;
        name.filter(|_| is_sound).map(|name| Task { name, fields })
    }
}

fn read_id(node: &Node, problems: &mut Problems) -> Option<String> {
    let id = node.get(ID);
    let name = problems.in_key(ID, |problems| match id {
        None => {
            let help = node.get(ID_ALIAS).map(|_| format!("call it `{ID}`, not `{ID_ALIAS}`"));
            problems.error(codes::MISSING, head(node), "`id` is missing").help(help);
            None
        }
        Some(id) if is_computed(id) => {
            let problem = problems.error(codes::EXPRESSION, head(id), "`id` cannot be computed");
            problem.help("tasks are known by their ids before anything is computed: write it out".to_owned());
            None
        }
        Some(id) => string_of(1..=255)(id, problems),
    });
    if let (Some(id), Some(alias)) = (id, node.get(ID_ALIAS))
        && id.kind != alias.kind
    {
        problems.in_key(ID_ALIAS, |problems| differing(ID, ID_ALIAS, alias, problems));
    }
    name
}

/// The fields under their canonical names, in the order they are written.
fn read_fields(entries: &[(Node, Node)], problems: &mut Problems) -> JsonMap {
    let mut fields = JsonMap::with_capacity(entries.len());
    for (key, value) in entries {
        let Some(name) = key_text(key, problems) else { continue };
        if [ID, ID_ALIAS, ROW_ID].contains(&name) {
            continue;
        }
        let canonical = canonical_field(name);
        let kept = problems.in_key(name, |problems| {
            warn_of_slip(name, key, problems);
            if !is_computed(value) {
                check_field(canonical, value, problems);
            }
            json(value, problems)
        });
        let Some(kept) = kept else { continue };
        match fields.get(canonical) {
            // Keys are distinct, so this is the other spelling.
            Some(old) if !means_the_same(canonical, old, &kept) => {
                problems.in_key(name, |problems| differing(other_spelling(name), name, key, problems));
            }
            Some(_) => {}
            None => _ = fields.insert(canonical.to_owned(), kept),
        }
    }
    fields
}

/// How else a field can be called.
fn other_spelling(name: &str) -> &str {
    let is_either = |field: &&Spelling| field.canonical == name || field.alias == Some(name);
    let field = TASK_FIELDS.iter().find(is_either);
    let other = field
        .map(|field| if field.canonical == name { field.alias.unwrap_or(name) } else { field.canonical });
    other.unwrap_or(name)
}

/// A role by itself is a list of one.
fn means_the_same(canonical: &str, old: &Json, new: &Json) -> bool {
    let is_list_of =
        |list: &Json, one: &Json| matches!(list, Json::Array(items) if items[..] == [one.clone()]);
    old == new || (canonical == "roles" && (is_list_of(old, new) || is_list_of(new, old)))
}

fn differing(first: &str, second: &str, node: &Node, problems: &mut Problems) {
    let message = format!("`{first}` and `{second}` are one field and say different things");
    problems.error(codes::CONFLICT, node.span, message).help("remove one of them".to_owned());
}

/// A field of the user's own that is nearly one of ours is more likely a slip.
fn warn_of_slip(name: &str, key: &Node, problems: &mut Problems) {
    let known = || {
        let own = TASK_FIELDS.iter().flat_map(|field| [Some(field.canonical), field.alias]).flatten();
        own.chain(OTHER_FIELDS.iter().copied()).chain([ID])
    };
    if known().any(|field| field == name) {
        return;
    }
    if let Some(help) = problems.did_you_mean(name, known()) {
        let message = format!("{} means nothing and is kept as it is", quoted(name));
        problems.warning(codes::UNKNOWN_KEY, key.span, message).help(help);
    }
}
