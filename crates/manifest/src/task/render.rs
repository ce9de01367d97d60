//! From a task to what an answer shows of it.

use stoker_model::{Json, JsonMap, TASK_FIELDS, Task};

/// The version of a task that says none.
pub const VERSION_DEFAULT: &str = "1.0.0";

/// A task as answers show it: its id under both names, every field under both spellings, the default version where
/// none was given, and everything else as it was written, however empty. What comes out can be uploaded again.
pub fn render(task: &Task) -> JsonMap {
    let mut shown = JsonMap::with_capacity(task.fields.len() + 6);
    shown.insert("id".to_owned(), Json::from(task.name.as_str()));
    shown.insert("task_name".to_owned(), Json::from(task.name.as_str()));
    for (name, value) in &task.fields {
        shown.insert(name.clone(), value.clone());
        if let Some(alias) = alias_of(name) {
            shown.insert(alias.to_owned(), value.clone());
        }
    }
    if !shown.contains_key("version") {
        shown.insert("version".to_owned(), Json::from(VERSION_DEFAULT));
    }
    shown
}

/// The other spelling of a field, if there is one.
pub fn alias_of(canonical: &str) -> Option<&'static str> {
    TASK_FIELDS.iter().find(|field| field.canonical == canonical).and_then(|field| field.alias)
}
