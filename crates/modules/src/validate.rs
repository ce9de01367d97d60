//! Validation of request fields, with the JSON schema messages that clients expect.

use stoker_model::{Json, JsonMap};

use crate::error::{RuleResult, RuleViolation};

const TEXT_CHARS_MAX: usize = 255;
/// Maximum number of listed problems.
const PROBLEMS_MAX: usize = 20;

const DATASTORE_KEYS: &[&str] = &["type", "version"];

/// 2^63: larger numbers are integers that were rounded when parsed as floats.
const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0;

/// Reads the fields of a map and collects problems.
pub(crate) struct Fields<'j> {
    /// Name of the map, such as `module`.
    name: &'static str,
    map: &'j JsonMap,
    /// Keys that were requested; other keys are unknown.
    requested_keys: Vec<&'static str>,
    problems: Vec<String>,
}

impl<'j> Fields<'j> {
    /// Returns the map under the single key of a body.
    pub(crate) fn of(body: &'j Json, name: &'static str) -> RuleResult<Self> {
        let Some(value) = body.as_object().and_then(|map| map.get(name)) else {
            return Err(RuleViolation::bad_request(format!(
                "Validation error: '{name}' is a required property"
            )));
        };
        let others: Vec<&str> = body
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .filter(|key| *key != name)
            .collect();
        let problems = unexpected(&others, &[name]).into_iter().collect();
        match value {
            Json::Object(map) => Ok(Self { name, map, requested_keys: Vec::new(), problems }),
            other => {
                let message = format!("Validation error: {name} {} is not of type 'object'", repr(other));
                Err(RuleViolation::bad_request(message))
            }
        }
    }

    /// Returns the value, or an error that lists all problems and unknown keys.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> RuleResult<T> {
        let unknown: Vec<&str> =
            self.map.keys().map(String::as_str).filter(|key| !self.requested_keys.contains(key)).collect();
        self.problems.extend(
            unexpected(&unknown, &self.requested_keys).map(|problem| format!("{}: {problem}", self.name)),
        );
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => {
                let listed: Vec<String> = self.problems.into_iter().take(PROBLEMS_MAX).collect();
                Err(RuleViolation::bad_request(format!("Validation error: {}", listed.join("; "))))
            }
        }
    }

    pub(crate) fn has(&mut self, key: &'static str) -> bool {
        self.take(key).is_some()
    }

    /// Returns the value of a key and marks the key as known.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'j Json> {
        if !self.requested_keys.contains(&key) {
            self.requested_keys.push(key);
        }
        self.map.get(key)
    }

    pub(crate) fn require(&mut self, key: &'static str) {
        if !self.has(key) {
            self.problems.push(format!("{} '{key}' is a required property", self.name));
        }
    }

    /// Reads a name: not empty, at most 255 characters, with an ASCII letter or digit.
    pub(crate) fn text(&mut self, key: &'static str) -> Option<String> {
        let value = self.take(key)?;
        match text_problem(value) {
            None => value.as_str().map(str::to_owned),
            Some(problem) => {
                self.problem(key, &problem);
                None
            }
        }
    }

    /// Reads a non-empty text.
    pub(crate) fn contents(&mut self, key: &'static str) -> Option<String> {
        let value = self.take(key)?;
        match value.as_str() {
            Some("") => self.problem(key, "'' is too short"),
            Some(text) => return Some(text.to_owned()),
            // The value may be secret: it is not repeated.
            None => self.problem(key, "is not of type 'string'"),
        }
        None
    }

    /// Reads a flag: 0, 1, false or true.
    pub(crate) fn flag(&mut self, key: &'static str) -> Option<bool> {
        let value = self.take(key)?;
        match (value.as_bool(), value.as_u64()) {
            (Some(flag), _) => return Some(flag),
            (None, Some(0)) => return Some(false),
            (None, Some(1)) => return Some(true),
            _ => self.problem(key, &format!("{} is not one of [0, 1, false, true]", repr(value))),
        }
        None
    }

    /// Reads an integer within bounds; numbers written with a fraction are rejected.
    pub(crate) fn integer(&mut self, key: &'static str, min: i64, max: i64) -> Option<i64> {
        let value = self.take(key)?;
        let problem = match value.as_i64() {
            Some(number) if number < min => format!("{number} is less than the minimum of {min}"),
            Some(number) if number > max => format!("{number} is greater than the maximum of {max}"),
            Some(number) => return Some(number),
            None if value.is_u64() => format!("{value} is greater than the maximum of {max}"),
            None if value.as_f64().is_some_and(|number| number >= INTEGERS_END) => {
                format!("{value} is greater than the maximum of {max}")
            }
            None if value.as_f64().is_some_and(|number| number <= -INTEGERS_END) => {
                format!("{value} is less than the minimum of {min}")
            }
            None => format!("{} is not of type 'integer'", repr(value)),
        };
        self.problem(key, &problem);
        None
    }

    /// Reads a datastore: `{"type", "version"}`.
    pub(crate) fn datastore(&mut self) -> (Option<String>, Option<String>) {
        const KEY: &str = "datastore";
        let Some(value) = self.take(KEY) else { return (None, None) };
        let Some(map) = value.as_object() else {
            self.problem(KEY, &format!("{} is not of type 'object'", repr(value)));
            return (None, None);
        };
        let unknown: Vec<&str> =
            map.keys().map(String::as_str).filter(|key| !DATASTORE_KEYS.contains(key)).collect();
        self.problems.extend(
            unexpected(&unknown, DATASTORE_KEYS).map(|problem| format!("{}['{KEY}']: {problem}", self.name)),
        );
        let mut part = |name: &str| {
            let value = map.get(name)?;
            let problem = text_problem(value);
            if let Some(problem) = &problem {
                self.problems.push(format!("{}['{KEY}']['{name}'] {problem}", self.name));
            }
            value.as_str().filter(|_| problem.is_none()).map(str::to_owned)
        };
        (part("type"), part("version"))
    }

    pub(crate) fn problem(&mut self, key: &str, problem: &str) {
        self.problems.push(format!("{}['{key}'] {problem}", self.name));
    }
}

/// Describes keys that a map must not have, in the words of a JSON schema validator.
pub(crate) fn unexpected(unknown: &[&str], expected: &[&str]) -> Option<String> {
    let listed: Vec<String> = unknown.iter().take(PROBLEMS_MAX).map(|key| repr(&Json::from(*key))).collect();
    let verb = if unknown.len() == 1 { "was" } else { "were" };
    (!unknown.is_empty()).then(|| {
        format!(
            "Additional properties are not allowed ({} {verb} unexpected); known properties: {}",
            listed.join(", "),
            expected.join(", ")
        )
    })
}

fn text_problem(value: &Json) -> Option<String> {
    let Some(text) = value.as_str() else {
        return Some(format!("{} is not of type 'string'", repr(value)));
    };
    if text.is_empty() {
        return Some("'' is too short".to_owned());
    }
    if text.chars().count() > TEXT_CHARS_MAX {
        return Some(format!("is too long: more than {TEXT_CHARS_MAX} characters"));
    }
    if text.contains('\0') {
        return Some("contains a NUL character".to_owned());
    }
    let has_alphanumeric = text.bytes().any(|byte| byte.is_ascii_alphanumeric());
    (!has_alphanumeric).then(|| format!("{} does not match '^.*[0-9a-zA-Z]+.*$'", repr(value)))
}

/// Returns a value in Python notation, as Trove clients expect, truncated.
fn repr(value: &Json) -> String {
    const CHARS_MAX: usize = 60;
    let text = match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::String(text) => format!("'{text}'"),
        other => other.to_string(),
    };
    if text.chars().count() <= CHARS_MAX {
        return text;
    }
    text.chars().take(CHARS_MAX).chain(['…']).collect()
}
