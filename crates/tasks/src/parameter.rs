//! Parameter tables. The table of a task type is the source of its validation, JSON schema and reference
//! documentation.

use stoker_model::Json;

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
    /// Description for the reference documentation.
    pub about: &'static str,
}

/// Whether a parameter is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// An optional parameter without a default.
    Optional,
    /// Default value in YAML syntax.
    Default(&'static str),
    /// Accepted for compatibility with graphs written for other tools; has no effect, for the given reason.
    Ignored(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Non-blank text.
    Text,
    /// Any text, including the empty one.
    Data,
    Seconds,
    Count,
    Flag,
    /// File mode as octal digits.
    Permissions,
    Map,
    /// A string or a list of strings.
    Texts,
    /// Non-empty list of maps with these parameters.
    Maps(&'static [Parameter]),
    Any,
}

impl Parameter {
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, need: Need::Required, about }
    }

    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, need: Need::Optional, about }
    }

    pub const fn default(name: &'static str, kind: Kind, value: &'static str, about: &'static str) -> Self {
        Self { name, kind, need: Need::Default(value), about }
    }

    pub const fn ignored(name: &'static str, why: &'static str) -> Self {
        Self { name, kind: Kind::Any, need: Need::Ignored(why), about: "" }
    }

    pub const fn timeout(seconds: &'static str) -> Self {
        Self::default(
            "timeout",
            Kind::Seconds,
            seconds,
            "Time limit of an attempt in seconds; afterwards all its processes are ended.",
        )
    }

    pub const fn retries(count: &'static str) -> Self {
        Self::default("retries", Kind::Count, count, "Maximum number of retries after a failure.")
    }

    pub const fn interval() -> Self {
        Self::default("interval", Kind::Seconds, "2", "Delay before a retry in seconds.")
    }

    pub const fn cwd() -> Self {
        Self::default("cwd", Kind::Text, "/", "Working directory.")
    }
}

/// Parameters of all types that the scheduler evaluates: concurrency over nodes, and whether an interrupted
/// attempt is retried.
pub(crate) const COMMON: &[&str] = &["strategy", "retry_interrupted"];

impl Kind {
    /// Name for the reference documentation and for error messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "non-blank text",
            Self::Data => "text",
            Self::Seconds => "a non-negative number of seconds",
            Self::Count => "a non-negative integer",
            Self::Flag => "`true` or `false`",
            Self::Permissions => "an octal file mode in quotes, for example `'0644'`",
            Self::Map => "a map",
            Self::Texts => "a string or a list of strings",
            Self::Maps(_) => "a non-empty list of maps",
            Self::Any => "any value",
        }
    }

    /// Reports whether a value is of this kind. The content of nested maps is not checked.
    pub fn fits(self, value: &Json) -> bool {
        match self {
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Data => value.is_string(),
            Self::Seconds => seconds(value).is_some(),
            Self::Count => count(value).is_some(),
            Self::Flag => value.is_boolean(),
            Self::Permissions => value.as_str().and_then(permissions).is_some(),
            Self::Map => value.is_object(),
            Self::Texts => match value {
                Json::Array(items) => items.iter().all(Json::is_string),
                other => other.is_string(),
            },
            Self::Maps(_) => {
                value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Json::is_object))
            }
            Self::Any => true,
        }
    }
}

/// One hundred years; larger values are mistakes.
const SECONDS_MAX: f64 = 3_155_760_000.0;

/// Numeric strings are accepted, because YAQL expressions often return strings.
pub(crate) fn seconds(value: &Json) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    (0.0..=SECONDS_MAX).contains(&number).then_some(number)
}

pub(crate) fn count(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

pub(crate) fn permissions(text: &str) -> Option<u32> {
    let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    is_octal.then(|| u32::from_str_radix(text, 8).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_accept_matching_values_only() {
        let cases: &[(Kind, Json, bool)] = &[
            (Kind::Text, json!("x"), true),
            (Kind::Text, json!("  \n"), false),
            (Kind::Text, json!(1), false),
            (Kind::Data, json!(""), true),
            (Kind::Seconds, json!(0.5), true),
            (Kind::Seconds, json!("300"), true),
            (Kind::Seconds, json!(-1), false),
            (Kind::Seconds, json!("soon"), false),
            (Kind::Seconds, json!(1e300), false),
            (Kind::Count, json!(3), true),
            (Kind::Count, json!("3"), true),
            (Kind::Count, json!(1.5), false),
            (Kind::Count, json!(-3), false),
            (Kind::Flag, json!(false), true),
            (Kind::Flag, json!("false"), false),
            (Kind::Permissions, json!("0644"), true),
            (Kind::Permissions, json!("644"), true),
            (Kind::Permissions, json!("0844"), false),
            (Kind::Permissions, json!(420), false),
            (Kind::Texts, json!(["a", "b"]), true),
            (Kind::Texts, json!(["a", 1]), false),
            (Kind::Maps(&[]), json!([]), false),
            (Kind::Maps(&[]), json!([{}]), true),
            (Kind::Maps(&[]), json!([1]), false),
            (Kind::Map, json!({}), true),
            (Kind::Any, json!(null), true),
        ];
        for (kind, value, expect) in cases {
            assert_eq!(kind.fits(value), *expect, "{kind:?} {value}");
        }
    }
}
