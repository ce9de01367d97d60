//! Rendering of a task for responses.

use stoker_model::{Json, JsonMap, TASK_FIELDS, Task};

/// Renders a task for responses: its id under both names, every field under both spellings, and all other
/// fields as written, including empty ones. Reading the result gives the same task.
pub fn render(task: &Task) -> JsonMap {
    let mut rendered = JsonMap::with_capacity(task.fields.len() + 6);
    rendered.insert("id".to_owned(), Json::from(task.name.as_str()));
    rendered.insert("task_name".to_owned(), Json::from(task.name.as_str()));
    for (name, value) in &task.fields {
        rendered.insert(name.clone(), value.clone());
        if let Some(alias) = alias_of(name) {
            rendered.insert(alias.to_owned(), value.clone());
        }
    }
    rendered
}

/// Returns the alternative spelling of a field, if it has one.
pub fn alias_of(canonical: &str) -> Option<&'static str> {
    TASK_FIELDS.iter().find(|field| field.canonical == canonical).and_then(|field| field.alias)
}
