//! Parameter tables. The table of a task type is the source of its validation, JSON schema and reference
//! documentation.

use std::borrow::Cow;

use stoker_model::Json;

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: ParameterType,
    pub requirement: ParameterRequirement,
    /// Description for the reference documentation.
    pub description: &'static str,
    /// Names that other tools use for this parameter; accepted with a hint.
    pub aliases: &'static [&'static str],
}

/// Requirement level of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterRequirement {
    Required,
    /// An optional parameter without a default.
    Optional,
    /// Default value in YAML syntax.
    Default(&'static str),
    /// Accepted for compatibility with graphs written for other tools; has no effect, for the given reason.
    Ignored(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub enum ParameterType {
    /// Non-blank text.
    Text,
    /// Absolute path. Only checked as written: a computed path is a matter of the task type.
    Path,
    /// Path, or several separated by `:`, that are absolute or relative to the parameter `cwd`.
    CwdPath,
    /// Any text, including the empty text.
    Data,
    Seconds,
    /// Small number, such as a number of retries.
    Count,
    /// Non-negative integer, such as the number of a user or a port.
    Number,
    Boolean,
    /// File mode as octal digits.
    Permissions,
    Map,
    /// Map with these parameters.
    Fields(&'static [Parameter]),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A string or a list of strings.
    StringList,
    /// Non-empty list of maps with these parameters.
    MapList(&'static [Parameter]),
    Any,
}

impl Parameter {
    pub const fn required(name: &'static str, kind: ParameterType, about: &'static str) -> Self {
        Self { name, kind, requirement: ParameterRequirement::Required, description: about, aliases: &[] }
    }

    pub const fn optional(name: &'static str, kind: ParameterType, about: &'static str) -> Self {
        Self { name, kind, requirement: ParameterRequirement::Optional, description: about, aliases: &[] }
    }

    pub const fn default(
        name: &'static str,
        kind: ParameterType,
        value: &'static str,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            requirement: ParameterRequirement::Default(value),
            description: about,
            aliases: &[],
        }
    }

    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Reports whether the parameter has this name or alias.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    pub const fn ignored(name: &'static str, why: &'static str) -> Self {
        Self {
            name,
            kind: ParameterType::Any,
            requirement: ParameterRequirement::Ignored(why),
            description: "",
            aliases: &[],
        }
    }

    pub const fn timeout(seconds: &'static str) -> Self {
        Self::default(
            "timeout",
            ParameterType::Seconds,
            seconds,
            "Time limit of an attempt in seconds; afterwards all its processes are ended.",
        )
    }

    pub const fn retries(count: &'static str) -> Self {
        Self::default("retries", ParameterType::Count, count, "Maximum number of retries after a failure.")
    }

    pub const fn interval() -> Self {
        Self::default("interval", ParameterType::Seconds, "2", "Delay before a retry in seconds.")
    }

    pub const fn cwd() -> Self {
        Self::default("cwd", ParameterType::Path, "/", "Working directory.")
    }
}

/// Parameters of all types that the scheduler evaluates: concurrency over nodes, and whether an interrupted
/// attempt is retried.
pub(crate) const COMMON: &[&str] = &["strategy", "retry_interrupted"];

impl ParameterType {
    /// Returns the name for the reference documentation and for error messages.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                return Cow::Owned(format!("one of {}", words.join(", ")));
            }
            Self::Text => "non-blank text",
            Self::Path => "an absolute path",
            Self::CwdPath => "a path, absolute or relative to `cwd`",
            Self::Data => "text",
            Self::Seconds => "a non-negative number of seconds",
            Self::Count | Self::Number => "a non-negative integer",
            Self::Boolean => "`true` or `false`",
            Self::Permissions => "an octal file mode in quotes, for example `'0644'`",
            Self::Map | Self::Fields(_) => "a map",
            Self::StringList => "a string or a list of strings",
            Self::MapList(_) => "a non-empty list of maps",
            Self::Any => "any value",
        })
    }

    /// Reports whether a value is of this kind. The content of nested maps is not checked.
    pub fn accepts(self, value: &Json) -> bool {
        match self {
            Self::Text | Self::Path | Self::CwdPath => {
                value.as_str().is_some_and(|text| !text.trim().is_empty())
            }
            Self::Data => value.is_string(),
            Self::Seconds => seconds(value).is_some(),
            Self::Count | Self::Number => count(value).is_some(),
            Self::Boolean => value.is_boolean(),
            Self::Permissions => value.as_str().and_then(permissions).is_some(),
            Self::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Map | Self::Fields(_) => value.is_object(),
            Self::StringList => match value {
                Json::Array(items) => items.iter().all(Json::is_string),
                other => other.is_string(),
            },
            Self::MapList(_) => {
                value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Json::is_object))
            }
            Self::Any => true,
        }
    }
}

/// Maximum duration in seconds: one hundred years. Larger values are mistakes.
const SECONDS_MAX: f64 = 3_155_760_000.0;

/// Parses a number of seconds. Numeric strings are accepted, because YAQL expressions often return strings.
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
        let cases: &[(ParameterType, Json, bool)] = &[
            (ParameterType::Text, json!("x"), true),
            (ParameterType::Text, json!("  \n"), false),
            (ParameterType::Text, json!(1), false),
            (ParameterType::Data, json!(""), true),
            (ParameterType::Seconds, json!(0.5), true),
            (ParameterType::Seconds, json!("300"), true),
            (ParameterType::Seconds, json!(-1), false),
            (ParameterType::Seconds, json!("soon"), false),
            (ParameterType::Seconds, json!(1e300), false),
            (ParameterType::Count, json!(3), true),
            (ParameterType::Count, json!("3"), true),
            (ParameterType::Count, json!(1.5), false),
            (ParameterType::Count, json!(-3), false),
            (ParameterType::Boolean, json!(false), true),
            (ParameterType::Boolean, json!("false"), false),
            (ParameterType::Permissions, json!("0644"), true),
            (ParameterType::Permissions, json!("644"), true),
            (ParameterType::Permissions, json!("0844"), false),
            (ParameterType::Permissions, json!(420), false),
            (ParameterType::Choice(&["present", "absent"]), json!("absent"), true),
            (ParameterType::Choice(&["present", "absent"]), json!("Absent"), false),
            (ParameterType::StringList, json!(["a", "b"]), true),
            (ParameterType::StringList, json!(["a", 1]), false),
            (ParameterType::MapList(&[]), json!([]), false),
            (ParameterType::MapList(&[]), json!([{}]), true),
            (ParameterType::MapList(&[]), json!([1]), false),
            (ParameterType::Map, json!({}), true),
            (ParameterType::Any, json!(null), true),
        ];
        for (kind, value, expect) in cases {
            assert_eq!(kind.accepts(value), *expect, "{kind:?} {value}");
        }
    }
}
