//! What a parameter of a task may be. One table of these is the schema, the check and the reference of a type.

use stoker_model::Json;

/// A parameter as users write it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
    /// A sentence for the reference.
    pub about: &'static str,
}

/// Whether it has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// Absent is absent.
    Optional,
    /// What stands in, as it would be written in YAML.
    Default(&'static str),
    /// Graphs written for others have it. It is accepted and changes nothing, for this reason.
    Ignored(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Text that is not blank.
    Text,
    /// Any text, also none.
    Data,
    Seconds,
    Count,
    Flag,
    /// Permissions, four octal digits.
    Permissions,
    /// Any map.
    Map,
    /// A text, or a list of texts.
    Texts,
    /// A list of at least one map, each with these.
    Maps(&'static [Parameter]),
    /// Whatever it is.
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
            "How long an attempt may take; then it is ended with everything it started.",
        )
    }

    pub const fn retries(count: &'static str) -> Self {
        Self::default("retries", Kind::Count, count, "How often it is tried again after a failure.")
    }

    pub const fn interval() -> Self {
        Self::default("interval", Kind::Seconds, "2", "Pause before it is tried again.")
    }

    pub const fn cwd() -> Self {
        Self::default("cwd", Kind::Text, "/", "The folder it runs in.")
    }
}

/// Taken by all types and read before an attempt begins: how many nodes do it at once, and whether it is begun again if
/// nobody knows how far it came.
pub(crate) const COMMON: &[&str] = &["strategy", "retry_interrupted"];

impl Kind {
    /// For the reference and for complaints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text that is not blank",
            Self::Data => "text",
            Self::Seconds => "a number of seconds",
            Self::Count => "a whole number, not negative",
            Self::Flag => "`true` or `false`",
            Self::Permissions => "four octal digits in quotes, as `'0644'`",
            Self::Map => "a map",
            Self::Texts => "a text or a list of texts",
            Self::Maps(_) => "a list of maps, at least one",
            Self::Any => "anything",
        }
    }

    /// Whether a value is of this kind; the inside of maps is looked at elsewhere.
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

/// A hundred years: longer is a slip of the pen.
const SECONDS_MAX: f64 = 3_155_760_000.0;

/// Numbers are also taken as text: values that were computed often are.
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
    fn kinds_accept_and_refuse() {
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
