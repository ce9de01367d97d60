//! Statement arguments in placeholder order.

use sqlx::error::BoxDynError;
use sqlx::{Arguments, Database, Encode, Type};
use stoker_model::{Json, JsonMap};

use crate::StoreError;

/// Maximum length of an indexed text. A PostgreSQL B-tree entry must fit on a third of a page (about 2700
/// bytes).
const KEY_BYTES_MAX: usize = 1024;
/// Maximum nesting depth of a document. A deeper document could be written but not read back: `serde_json`
/// stops at 128 levels.
const DEPTH_MAX: usize = 120;
const EXCERPT_CHARS_MAX: usize = 60;

#[derive(Clone, Debug)]
pub(super) enum Arg {
    Int(Option<i64>),
    Text(Option<String>),
    Bool(Option<bool>),
    Bytes(Option<Vec<u8>>),
}

/// Values are validated when they are added; the first invalid value is reported when the statement is
/// executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Args {
    values: Vec<Arg>,
    unstorable: Option<String>,
}

/// Reports whether a text is a valid key. No row has an invalid key, so lookups can skip the query.
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

    /// Appends the arguments of `others`.
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

    pub(crate) fn bool(self, value: bool) -> Self {
        self.opt_bool(Some(value))
    }

    pub(crate) fn opt_bool(mut self, value: Option<bool>) -> Self {
        self.values.push(Arg::Bool(value));
        self
    }

    pub(crate) fn opt_bytes(mut self, value: Option<&[u8]>) -> Self {
        self.values.push(Arg::Bytes(value.map(<[u8]>::to_vec)));
        self
    }

    pub(crate) fn text(self, value: &str) -> Self {
        self.opt_text(Some(value))
    }

    pub(crate) fn opt_text(mut self, value: Option<&str>) -> Self {
        if let Some(text) = value.filter(|text| text.contains('\0')) {
            self.reject(format!("text `{}` with a NUL character", excerpt(text)));
        }
        self.values.push(Arg::Text(value.map(str::to_owned)));
        self
    }

    /// Appends a text for an indexed column.
    pub(crate) fn key(mut self, value: &(impl AsRef<str> + ?Sized)) -> Self {
        let value = value.as_ref();
        if value.len() > KEY_BYTES_MAX {
            self.reject(format!("name `{}…` of {} bytes", excerpt(value), value.len()));
        }
        self.text(value)
    }

    /// Appends a text of unknown origin: NUL characters, which PostgreSQL cannot store, are replaced.
    pub(crate) fn lossy_text(self, value: &str) -> Self {
        self.text(&value.replace('\0', "\u{fffd}"))
    }

    /// Appends a JSON document as text. JSON escapes NUL, so any document can be stored.
    pub(crate) fn opt_json(mut self, value: Option<&Json>) -> Self {
        self.check_depth(value);
        self.push_text(value.map(Json::to_string))
    }

    pub(crate) fn opt_map(mut self, value: Option<&JsonMap>) -> Self {
        self.check_depth(value.into_iter().flat_map(JsonMap::values));
        // Serializing a map with string keys cannot fail.
        self.push_text(value.map(|map| serde_json::to_string(map).unwrap_or_default()))
    }

    pub(crate) fn opt_documents(mut self, values: Option<&[Json]>) -> Self {
        self.check_depth(values.into_iter().flatten());
        // Serialized item by item to avoid cloning the documents into a `Json::Array`.
        self.push_text(values.map(|values| json_list(values.iter().map(Json::to_string))))
    }

    pub(crate) fn strings<S: AsRef<str>>(self, values: &[S]) -> Self {
        self.opt_strings(Some(values))
    }

    pub(crate) fn opt_strings<S: AsRef<str>>(self, values: Option<&[S]>) -> Self {
        let quoted = |text: &S| Json::from(text.as_ref()).to_string();
        self.push_text(values.map(|values| json_list(values.iter().map(quoted))))
    }

    fn push_text(mut self, text: Option<String>) -> Self {
        self.values.push(Arg::Text(text));
        self
    }

    fn check_depth<'v>(&mut self, values: impl IntoIterator<Item = &'v Json>) {
        if values.into_iter().any(|value| is_deeper(value, DEPTH_MAX)) {
            self.reject(format!("a document nested deeper than {DEPTH_MAX}"));
        }
    }

    fn reject(&mut self, what: String) {
        self.unstorable.get_or_insert(what);
    }

    /// Returns the values, or an error if one of them cannot be stored.
    pub(super) fn into_values(self) -> Result<Vec<Arg>, StoreError> {
        match self.unstorable {
            Some(what) => Err(StoreError::Unstorable { what }),
            None => Ok(self.values),
        }
    }

    /// Converts the values to the argument type of an engine.
    pub(crate) fn into_engine<A>(self) -> Result<A, StoreError>
    where
        A: Arguments,
        A::Database: Database,
        for<'t> Option<i64>: Encode<'t, A::Database> + Type<A::Database>,
        for<'t> Option<String>: Encode<'t, A::Database> + Type<A::Database>,
        for<'t> Option<bool>: Encode<'t, A::Database> + Type<A::Database>,
        for<'t> Option<Vec<u8>>: Encode<'t, A::Database> + Type<A::Database>,
    {
        let mut arguments = A::default();
        for value in self.into_values()? {
            let result: Result<(), BoxDynError> = match value {
                Arg::Int(value) => arguments.add(value),
                Arg::Text(value) => arguments.add(value),
                Arg::Bool(value) => arguments.add(value),
                Arg::Bytes(value) => arguments.add(value),
            };
            result.map_err(|error| StoreError::Database(sqlx::Error::Encode(error)))?;
        }
        Ok(arguments)
    }
}

fn json_list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn is_deeper(value: &Json, depth: usize) -> bool {
    match value {
        Json::Array(items) => depth == 0 || items.iter().any(|item| is_deeper(item, depth - 1)),
        Json::Object(map) => depth == 0 || map.values().any(|item| is_deeper(item, depth - 1)),
        _ => false,
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS_MAX).collect::<String>().escape_debug().to_string()
}
