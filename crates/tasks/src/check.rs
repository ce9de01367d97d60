//! Parameters against the table of their type: every problem at once.

use std::fmt;

use stoker_model::{Json, JsonMap};

use crate::parameter::{COMMON, Kind, Need, Parameter};
use crate::values::Values;

/// What is to be said about the parameters of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Where: `files[1].dst`.
    pub place: String,
    pub weight: Weight,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It was written for others, and changes nothing.
    Note,
    /// The task can run, but perhaps not as it was meant.
    Warning,
    /// It cannot.
    Error,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Parameters with their defaults filled in, or why not; in both cases everything there is to be said.
pub(crate) fn check(table: &[Parameter], given: &Json) -> (Option<Values>, Vec<Remark>) {
    let empty = JsonMap::new();
    let map = match given {
        Json::Object(map) => map,
        Json::Null => &empty,
        other => {
            let message = format!("`parameters` must be a map, not {}", kind_of(other));
            return (None, vec![Remark { place: String::new(), weight: Weight::Error, message }]);
        }
    };
    let mut checking = Checking { remarks: Vec::new() };
    let filled = checking.map(table, map, "");
    let is_fit = checking.remarks.iter().all(|remark| remark.weight < Weight::Error);
    (is_fit.then(|| Values::new(filled)), checking.remarks)
}

struct Checking {
    remarks: Vec<Remark>,
}

impl Checking {
    fn say(&mut self, weight: Weight, place: String, message: String) {
        self.remarks.push(Remark { place, weight, message });
    }

    fn map(&mut self, table: &[Parameter], given: &JsonMap, place: &str) -> JsonMap {
        let mut filled = JsonMap::new();
        for parameter in table {
            // `null` is how computed parameters say that there is none.
            let value = given.get(parameter.name).filter(|value| !value.is_null());
            let place = format!("{place}{}", parameter.name);
            match (value, parameter.need) {
                (Some(_), Need::Ignored(why)) => {
                    self.say(Weight::Note, place.clone(), format!("`{place}` has no effect: {why}"));
                }
                (Some(value), _) => {
                    let value = self.value(*parameter, value, &place);
                    filled.insert(parameter.name.to_owned(), value);
                }
                (None, Need::Required) => {
                    let message = format!("Missing a required parameter {place}");
                    self.say(Weight::Error, place, message);
                }
                (None, Need::Default(text)) => {
                    filled.insert(parameter.name.to_owned(), default_value(parameter.kind, text));
                }
                (None, Need::Optional | Need::Ignored(_)) => {}
            }
        }
        for name in given.keys().filter(|name| !COMMON.contains(&name.as_str()) || !place.is_empty()) {
            if !table.iter().any(|parameter| parameter.name == name) {
                let known: Vec<&str> = table.iter().map(|parameter| parameter.name).collect();
                let place = format!("{place}{name}");
                let hint = if known.is_empty() {
                    "it takes none".to_owned()
                } else {
                    format!("known are {}", known.join(", "))
                };
                let message = format!("unknown parameter `{place}`; {hint}");
                self.say(Weight::Warning, place, message);
            }
        }
        filled
    }

    fn value(&mut self, parameter: Parameter, value: &Json, place: &str) -> Json {
        if !parameter.kind.fits(value) {
            let message = format!("`{place}` must be {}, not {}", parameter.kind.name(), kind_of(value));
            self.say(Weight::Error, place.to_owned(), message);
            return Json::Null;
        }
        match (parameter.kind, value) {
            (Kind::Maps(table), Json::Array(items)) => {
                let maps = items.iter().enumerate().filter_map(|(idx, item)| Some((idx, item.as_object()?)));
                maps.map(|(idx, map)| Json::Object(self.map(table, map, &format!("{place}[{idx}]."))))
                    .collect()
            }
            _ => value.clone(),
        }
    }
}

/// Defaults are written in the table as text; the kind says what they are.
fn default_value(kind: Kind, text: &str) -> Json {
    match kind {
        Kind::Seconds | Kind::Count | Kind::Flag => serde_json::from_str(text).unwrap_or(Json::Null),
        _ => Json::from(text),
    }
}

/// How a value is called where it is not what was expected. The value itself may be a secret.
fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "nothing",
        Json::Bool(_) => "a flag",
        Json::Number(_) => "this number",
        Json::String(text) if text.trim().is_empty() => "blank text",
        Json::String(_) => "this text",
        Json::Array(items) if items.is_empty() => "an empty list",
        Json::Array(_) => "a list",
        Json::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &[Parameter] = &[
        Parameter::required("dst", Kind::Text, ""),
        Parameter::default("mode", Kind::Permissions, "0644", ""),
    ];
    const TABLE: &[Parameter] = &[
        Parameter::required("files", Kind::Maps(FILE), ""),
        Parameter::required("name", Kind::Text, ""),
        Parameter::timeout("60"),
        Parameter::ignored("old", "it is old"),
    ];

    fn messages(given: &Json) -> Vec<String> {
        check(TABLE, given).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_problems_are_told_at_once_with_their_places() {
        let given = json!({"files": [{"dst": "/a"}, {"dst": " ", "mod": 1}], "timeout": "x", "old": 1, "strategy": {}});
        assert_eq!(
            messages(&given),
            [
                "`files[1].dst` must be text that is not blank, not blank text",
                "unknown parameter `files[1].mod`; known are dst, mode",
                "Missing a required parameter name",
                "`timeout` must be a number of seconds, not this text",
                "`old` has no effect: it is old",
            ]
        );
        assert_eq!(messages(&json!([])), ["`parameters` must be a map, not an empty list"]);
    }

    #[test]
    fn defaults_are_filled_in_everywhere() {
        let (values, remarks) =
            check(TABLE, &json!({"files": [{"dst": "/a"}], "name": "n", "timeout": null}));
        assert_eq!(remarks, []);
        let values = values.unwrap();
        assert_eq!(values.seconds("timeout"), 60.0);
        assert_eq!(values.maps("files")[0].permissions("mode"), 0o644);
    }

    #[test]
    fn complaints_do_not_repeat_values() {
        let told = messages(&json!({"files": "hunter2", "name": {"a": "hunter2"}})).join("\n");
        assert!(!told.contains("hunter2"), "{told}");
    }
}
