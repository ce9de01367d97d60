//! Query parameters. All invalid parameters are reported together.

use std::collections::HashMap;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use stoker_diagnostics::Diagnostic;
use stoker_yaql::eval::suggest::closest_name;

use crate::http::error::{ApiError, ApiResult};

/// Query parameters of a request. Readers collect problems; [`Query::finish`] reports them.
#[derive(Debug, Default)]
pub(crate) struct Query {
    values: HashMap<String, Vec<String>>,
    problems: Vec<Diagnostic>,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let mut values: HashMap<String, Vec<String>> = HashMap::new();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            values.entry(name.into_owned()).or_default().push(value.into_owned());
        }
        Self { values, problems: Vec::new() }
    }

    /// Returns the trimmed value; an empty value counts as absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.iter().map(|value| value.trim()).rfind(|value| !value.is_empty())
    }

    /// Reports whether the parameter is present, even if empty.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns a value that must not be given twice, unless it is the same.
    fn single(&mut self, name: &str) -> Option<String> {
        let values = self.values.get(name)?;
        let text = self.text(name)?.to_owned();
        if values.iter().any(|value| value.trim() != text) {
            self.problem(name, "it is given with two different values; give it once");
            return None;
        }
        Some(text)
    }

    /// Parses `1 t true 0 f false`, case-insensitively. An empty value is an error: `?dry_run` may be meant as true.
    pub(crate) fn boolean(&mut self, name: &str) -> bool {
        self.flag(name).unwrap_or(false)
    }

    /// Like [`Self::boolean`]; `None` if the key is absent.
    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        if self.has(name) && self.text(name).is_none() {
            self.problem(name, "it has no value; use 1 or 0");
        }
        let text = self.single(name)?;
        match text.to_ascii_lowercase().as_str() {
            "1" | "t" | "true" => Some(true),
            "0" | "f" | "false" => Some(false),
            _ => {
                let message = format!("`{}` is not a boolean; use 1 or 0", truncated(&text));
                self.problem(name, message);
                None
            }
        }
    }

    pub(crate) fn natural(&mut self, name: &str) -> Option<u64> {
        // SQL integers are signed.
        const MAX: u64 = i64::MAX as u64;
        let text = self.single(name)?;
        match text.parse() {
            Ok(number) if number <= MAX => Some(number),
            _ => {
                let message = format!("`{}` is not a number from 0 to {MAX}", truncated(&text));
                self.problem(name, message);
                None
            }
        }
    }

    /// Returns the items of a comma-separated list; a repeated parameter continues the list. `None` if empty.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<String>> {
        let values = self.values.get(name)?;
        let items: Vec<String> = values
            .iter()
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect();
        (!items.is_empty()).then_some(items)
    }

    /// Returns a comma-separated list of ids.
    pub(crate) fn ids(&mut self, name: &str) -> Option<Vec<i64>> {
        self.parsed_list(name, "an id", |item| item.parse().ok())
    }

    /// Returns a comma-separated list of enumeration values.
    pub(crate) fn words<T>(
        &mut self,
        name: &str,
        parse: fn(&str) -> Option<T>,
        words: &[&str],
    ) -> Option<Vec<T>> {
        let kind = format!("one of {}", words.join(", "));
        self.parsed_list(name, &kind, parse)
    }

    fn parsed_list<T>(
        &mut self,
        name: &str,
        kind: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut parsed = Vec::new();
        for item in self.list(name)? {
            match parse(&item) {
                Some(value) => parsed.push(value),
                None => self.problem(name, format!("`{}` is not {kind}", truncated(&item))),
            }
        }
        Some(parsed)
    }

    pub(crate) fn problem(&mut self, name: &str, message: impl Into<String>) {
        self.problems.push(Diagnostic::error("query", message).path(format!("?{name}")));
    }

    /// Returns all problems of the parameters that were read.
    pub(crate) fn finish(self) -> ApiResult<()> {
        if self.problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.problems)) }
    }
}

/// Declares query parameters once: their documentation and their reader. After the type follows the method of [`Query`] that
/// reads the parameter.
macro_rules! query {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $how:ident, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(utoipa::IntoParams)]
        #[into_params(parameter_in = Query)]
        $vis struct $name {
            $( $(#[$field_meta])* $vis $field: $type, )*
        }

        impl $name {
            /// Reads the parameters; `query` collects their problems.
            $vis fn read(query: &mut $crate::http::query::Query) -> Self {
                Self { $( $field: query.$how(stringify!($field)), )* }
            }
        }
    };
}
pub(crate) use query;

/// Aliases that clients of Fuel send. An alias is accepted wherever the key beside it is declared.
const ALIASES: &[(&str, &str)] = &[("graph_type", "type"), ("graph_types", "types")];

/// Reports all keys of a query that are neither declared nor aliases of declared ones.
pub(crate) fn refuse_unknown(text: &str, declared: &[String]) -> ApiResult<()> {
    let aliases = ALIASES.iter().filter(|(key, _)| declared.iter().any(|declared| declared == key));
    let keys: Vec<&str> =
        declared.iter().map(String::as_str).chain(aliases.map(|(_, alias)| *alias)).collect();
    let mut unknown: Vec<String> = Vec::new();
    for (name, _) in form_urlencoded::parse(text.as_bytes()) {
        if !keys.contains(&name.as_ref()) && !unknown.iter().any(|unknown| *unknown == name) {
            unknown.push(name.into_owned());
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(unknown.iter().take(UNKNOWN_MAX).map(|name| unknown_key(name, &keys)).collect()))
}

/// Maximum number of unknown keys in a response.
const UNKNOWN_MAX: usize = 20;

fn unknown_key(name: &str, keys: &[&str]) -> Diagnostic {
    let name = truncated(name);
    let help = match closest_name(&name, keys.iter().copied()) {
        Some(suggestion) => format!("did you mean `{suggestion}`?"),
        None if keys.is_empty() => "this operation takes no query parameters".to_owned(),
        None => format!("known parameters: {}", keys.join(", ")),
    };
    Diagnostic::error("query", format!("unknown query parameter `{name}`"))
        .path(format!("?{name}"))
        .help(help)
}

fn truncated(text: &str) -> String {
    text.chars().take(60).collect()
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_fuel_clients_are_parsed() {
        let mut query = Query::parse("nodes=&a=1,%202,,3&b=T&limit=5&a=4&x=%20y%20");
        assert_eq!(query.list("nodes"), None);
        assert!(query.has("nodes"));
        assert_eq!(query.ids("a"), Some(vec![1, 2, 3, 4]));
        assert!(query.boolean("b"));
        assert!(!query.boolean("c"));
        assert_eq!(query.natural("limit"), Some(5));
        assert_eq!(query.text("x"), Some("y"));
        query.finish().unwrap();
    }

    #[test]
    fn unknown_keys_are_reported_with_the_nearest_known_one() {
        let declared = ["graph_type", "nodes", "dry_run"].map(str::to_owned);
        refuse_unknown("graph_type=a&type=a&nodes=1&nodes=2&dry_run", &declared).unwrap();
        let error = refuse_unknown("dry-run=1&dry-run=2&types=x&colour=red&nodes=1", &declared).unwrap_err();
        assert_eq!(error.status(), 400);
        insta::assert_snapshot!(error.message());
        insta::assert_snapshot!(refuse_unknown("a=1", &[]).unwrap_err().message());
    }

    #[test]
    fn flags_are_given_once_with_a_value() {
        for text in ["dry_run", "dry_run=", "dry_run=1&dry_run=0", "dry_run=0&dry_run=1", "dry_run=1&dry_run"]
        {
            let mut query = Query::parse(text);
            query.boolean("dry_run");
            assert_eq!(query.finish().unwrap_err().status(), 400, "{text}");
        }
        let mut query = Query::parse("dry_run=1&dry_run=1&limit=1&limit=2");
        assert!(query.boolean("dry_run"));
        assert_eq!(query.natural("limit"), None);
        query.finish().unwrap_err();
    }

    #[test]
    fn all_invalid_values_are_reported() {
        let mut query = Query::parse("a=x,1&b=maybe&limit=-1");
        query.ids("a");
        query.boolean("b");
        query.natural("limit");
        let error = query.finish().unwrap_err();
        assert_eq!(error.status(), 400);
        insta::assert_snapshot!(error.message());
    }
}
