//! Helpers that build JSON documents.

use stoker_model::{Json, JsonMap};

pub(crate) fn text(text: &str) -> Json {
    Json::from(text)
}

pub(crate) fn list(items: impl IntoIterator<Item = Json>) -> Json {
    items.into_iter().collect()
}

pub(crate) fn map<const N: usize>(entries: [(&str, Json); N]) -> Json {
    Json::Object(object(entries))
}

pub(crate) fn object<const N: usize>(entries: [(&str, Json); N]) -> JsonMap {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
