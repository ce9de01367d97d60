//! Values for the placeholders of a statement, in their order.

use sqlx::error::BoxDynError;
use sqlx::{Arguments, Database, Encode, Type};
use stoker_model::{Json, JsonMap, Micros};

use crate::StoreError;

/// Text that stands in an index may not be longer: PostgreSQL has no room for more in a page of a tree.
const KEY_BYTES_MAX: usize = 1024;
/// A document nested deeper could be written and not be read again: the reader stops before the stack does.
const DEPTH_MAX: usize = 120;
const SHOWN_CHARS_MAX: usize = 60;

#[derive(Clone, Debug)]
pub(super) enum Arg {
    Int(Option<i64>),
    Text(Option<String>),
    Bool(bool),
    Bytes(Vec<u8>),
}

/// Text is checked as it comes; what cannot be stored is reported when the statement is run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Args {
    values: Vec<Arg>,
    unstorable: Option<String>,
}

/// Whether a name can be stored, and so whether it is worth looking for.
pub(crate) fn is_key(text: &str) -> bool {
    text.len() <= KEY_BYTES_MAX && !text.contains('\0')
}

impl Args {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// These, and others after them.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.values.extend(others.values);
        self.unstorable = self.unstorable.or(others.unstorable);
        self
    }

    pub(crate) fn int(self, value: i64) -> Self {
        self.opt_int(Some(value))
    }

    pub(crate) fn opt_int(mut self, value: Option<i64>) -> Self {
        self.values.push(Arg::Int(value));
        self
    }

    pub(crate) fn opt_time(self, value: Option<Micros>) -> Self {
        self.opt_int(value.map(|instant| instant.0))
    }

    pub(crate) fn bool(mut self, value: bool) -> Self {
        self.values.push(Arg::Bool(value));
        self
    }

    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        self.values.push(Arg::Bytes(value.to_vec()));
        self
    }

    pub(crate) fn text(self, value: &str) -> Self {
        self.opt_text(Some(value))
    }

    pub(crate) fn opt_text(mut self, value: Option<&str>) -> Self {
        if let Some(text) = value.filter(|text| text.contains('\0')) {
            self.refuse(format!("`{}`, which has a NUL character,", shown(text)));
        }
        self.values.push(Arg::Text(value.map(str::to_owned)));
        self
    }

    /// A text that stands in an index.
    pub(crate) fn key(mut self, value: &str) -> Self {
        if value.len() > KEY_BYTES_MAX {
            self.refuse(format!("`{}…`, a name of {} bytes,", shown(value), value.len()));
        }
        self.text(value)
    }

    /// JSON writes a NUL as an escape, so that any document can be kept as text.
    pub(crate) fn json(self, value: &Json) -> Self {
        self.opt_json(Some(value))
    }

    pub(crate) fn opt_json(mut self, value: Option<&Json>) -> Self {
        self.check_depth(value);
        self.push_text(value.map(Json::to_string))
    }

    pub(crate) fn map(self, value: &JsonMap) -> Self {
        self.opt_map(Some(value))
    }

    pub(crate) fn opt_map(mut self, value: Option<&JsonMap>) -> Self {
        self.check_depth(value.into_iter().flat_map(JsonMap::values));
        // A map of texts and values always has a text form.
        self.push_text(value.map(|map| serde_json::to_string(map).unwrap_or_default()))
    }

    pub(crate) fn documents(mut self, values: &[Json]) -> Self {
        self.check_depth(values);
        // Written item by item: a copy of every document only to print it would be a waste.
        let items: Vec<String> = values.iter().map(Json::to_string).collect();
        self.push_text(Some(format!("[{}]", items.join(","))))
    }

    pub(crate) fn strings<S: AsRef<str>>(self, values: &[S]) -> Self {
        let items: Vec<String> = values.iter().map(|text| Json::from(text.as_ref()).to_string()).collect();
        self.push_text(Some(format!("[{}]", items.join(","))))
    }

    fn push_text(mut self, text: Option<String>) -> Self {
        self.values.push(Arg::Text(text));
        self
    }

    fn check_depth<'v>(&mut self, values: impl IntoIterator<Item = &'v Json>) {
        if values.into_iter().any(|value| is_deeper(value, DEPTH_MAX)) {
            self.refuse(format!("a document nested deeper than {DEPTH_MAX}"));
        }
    }

    fn refuse(&mut self, what: String) {
        self.unstorable.get_or_insert(what);
    }

    /// The values themselves, if all of them can be stored.
    pub(super) fn into_values(self) -> Result<Vec<Arg>, StoreError> {
        match self.unstorable {
            Some(what) => Err(StoreError::Unstorable { what }),
            None => Ok(self.values),
        }
    }

    /// The arguments as an engine takes them.
    pub(crate) fn into_engine<A>(self) -> Result<A, StoreError>
    where
        A: Arguments,
        A::Database: Database,
        for<'t> Option<i64>: Encode<'t, A::Database> + Type<A::Database>,
        for<'t> Option<String>: Encode<'t, A::Database> + Type<A::Database>,
        for<'t> bool: Encode<'t, A::Database> + Type<A::Database>,
        for<'t> Vec<u8>: Encode<'t, A::Database> + Type<A::Database>,
    {
        let mut arguments = A::default();
        for value in self.into_values()? {
            let added: Result<(), BoxDynError> = match value {
                Arg::Int(value) => arguments.add(value),
                Arg::Text(value) => arguments.add(value),
                Arg::Bool(value) => arguments.add(value),
                Arg::Bytes(value) => arguments.add(value),
            };
            added.map_err(|error| StoreError::Database(sqlx::Error::Encode(error)))?;
        }
        Ok(arguments)
    }
}

fn is_deeper(value: &Json, depth: usize) -> bool {
    match value {
        Json::Array(items) => depth == 0 || items.iter().any(|item| is_deeper(item, depth - 1)),
        Json::Object(map) => depth == 0 || map.values().any(|item| is_deeper(item, depth - 1)),
        _ => false,
    }
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect::<String>().escape_debug().to_string()
}
