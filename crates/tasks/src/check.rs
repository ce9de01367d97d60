//! Validation of task parameters against the parameter table of their type. Reports all problems, not only
//! the first.

use stoker_diagnostics::{Diagnostic, Diagnostics, Severity, has_errors};
use stoker_manifest::reader::did_you_mean;
use stoker_model::{Json, JsonMap};

use crate::parameter::{COMMON, Parameter, ParameterRequirement, ParameterType};
use crate::values::Values;

/// Returns the parameters with defaults filled in, or `None` if there are errors, and all diagnostics.
pub(crate) fn check_parameters(table: &[Parameter], parameters: &Json) -> (Option<Values>, Vec<Diagnostic>) {
    let empty = JsonMap::new();
    let map = match parameters {
        Json::Object(map) => map,
        Json::Null => &empty,
        other => {
            let message = format!("`parameters` must be a map, got {}", describe(other));
            return (None, vec![Diagnostic::plain(message)]);
        }
    };
    let mut checker = Checker::default();
    let values = checker.map(table, map, "");
    let is_valid = !has_errors(&checker.problems);
    (is_valid.then(|| Values::new(values)), checker.problems)
}

/// Collector of problems.
#[derive(Default)]
pub(crate) struct Checker {
    pub(crate) problems: Vec<Diagnostic>,
}

impl Checker {
    /// Adds a diagnostic. Messages name the parameter, so that they can be understood without the path.
    pub(crate) fn report(&mut self, severity: Severity, path: String, message: String) {
        self.problems.push(Diagnostic::plain(message).severity(severity).path(path));
    }

    pub(crate) fn report_missing(&mut self, place: String) {
        let message = format!("Missing a required parameter {place}");
        self.report(Severity::Error, place, message);
    }

    pub(crate) fn report_unknown(&mut self, table: &[Parameter], name: &str, place: &str) {
        let names: Vec<&str> = table.iter().map(|parameter| parameter.name).collect();
        let hint = if names.is_empty() {
            "this task type has no parameters".to_owned()
        } else {
            format!("expected one of {}", names.join(", "))
        };
        let place = format!("{place}{name}");
        let problem = Diagnostic::warning("", format!("unknown parameter `{place}`; {hint}")).path(place);
        let names = names.into_iter().chain(COMMON.iter().copied());
        self.problems.push(problem.help_if(did_you_mean(name, names, &mut Diagnostics::default())));
    }

    /// Returns the value of a parameter. A computed parameter evaluates to `null` when it is absent.
    pub(crate) fn find<'p>(
        &mut self,
        parameter: &Parameter,
        parameters: &'p JsonMap,
        place: &str,
    ) -> Option<&'p Json> {
        let value = |name: &str| parameters.get(name).filter(|value| !value.is_null());
        let name = parameter.name;
        let aliases: Vec<&str> =
            parameter.aliases.iter().copied().filter(|alias| value(alias).is_some()).collect();
        for alias in &aliases {
            let message = format!("`{place}{alias}` is an alias of `{place}{name}`; write `{name}`");
            self.report(Severity::Note, format!("{place}{alias}"), message);
        }
        let names = aliases.iter().copied().chain(value(name).map(|_| name)).collect::<Vec<_>>();
        if let [one, other, ..] = names[..] {
            let message =
                format!("`{place}{one}` and `{place}{other}` are the same parameter; give one of them");
            self.report(Severity::Error, format!("{place}{other}"), message);
        }
        names.first().and_then(|name| value(name))
    }

    fn map(&mut self, table: &[Parameter], parameters: &JsonMap, place: &str) -> JsonMap {
        let mut values = JsonMap::new();
        for parameter in table {
            let value = self.find(parameter, parameters, place);
            let place = format!("{place}{}", parameter.name);
            match (value, parameter.requirement) {
                (Some(_), ParameterRequirement::Ignored(why)) => {
                    self.report(Severity::Note, place.clone(), format!("`{place}` has no effect: {why}"));
                }
                (Some(value), _) => {
                    let value = self.value(*parameter, value, &place);
                    values.insert(parameter.name.to_owned(), value);
                }
                (None, ParameterRequirement::Required) => self.report_missing(place),
                (None, ParameterRequirement::Default(text)) => {
                    values.insert(parameter.name.to_owned(), default_value(parameter.kind, text));
                }
                (None, ParameterRequirement::Optional | ParameterRequirement::Ignored(_)) => {}
            }
        }
        for name in parameters.keys().filter(|name| !is_known(table, name, place)) {
            self.report_unknown(table, name, place);
        }
        values
    }

    fn value(&mut self, parameter: Parameter, value: &Json, place: &str) -> Json {
        if !parameter.kind.accepts(value) {
            let message = format!("`{place}` must be {}, got {}", parameter.kind.name(), describe(value));
            self.report(Severity::Error, place.to_owned(), message);
            return Json::Null;
        }
        match (parameter.kind, value) {
            (ParameterType::MapList(table), Json::Array(items)) => {
                let maps = items.iter().enumerate().filter_map(|(idx, item)| Some((idx, item.as_object()?)));
                maps.map(|(idx, map)| Json::Object(self.map(table, map, &format!("{place}[{idx}]."))))
                    .collect()
            }
            (ParameterType::Fields(table), Json::Object(map)) => {
                Json::Object(self.map(table, map, &format!("{place}.")))
            }
            _ => value.clone(),
        }
    }
}

/// Reports whether a map at `place` may have a parameter. The parameters themselves are at the empty place.
pub(crate) fn is_known(table: &[Parameter], name: &str, place: &str) -> bool {
    table.iter().any(|parameter| parameter.is_named(name)) || (place.is_empty() && COMMON.contains(&name))
}

/// Parses a default, which the table contains as text.
fn default_value(kind: ParameterType, text: &str) -> Json {
    match kind {
        ParameterType::Seconds | ParameterType::Count | ParameterType::Boolean => {
            serde_json::from_str(text).unwrap_or(Json::Null)
        }
        _ => Json::from(text),
    }
}

/// Describes the type of a value for an error message. Never includes the value, which may be a secret.
pub(crate) fn describe(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(text) if text.trim().is_empty() => "a blank string",
        Json::String(_) => "a string",
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
        Parameter::required("dst", ParameterType::Text, ""),
        Parameter::default("mode", ParameterType::Permissions, "0644", ""),
    ];
    const TABLE: &[Parameter] = &[
        Parameter::required("files", ParameterType::MapList(FILE), ""),
        Parameter::required("name", ParameterType::Text, ""),
        Parameter::timeout("60"),
        Parameter::ignored("old", "it is old"),
    ];

    fn messages(parameters: &Json) -> Vec<String> {
        check_parameters(TABLE, parameters).1.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn all_problems_are_reported_with_their_paths() {
        let parameters = json!({"files": [{"dst": "/a"}, {"dst": " ", "mod": 1}], "timeout": "x", "old": 1, "strategy": {}});
        assert_eq!(
            messages(&parameters),
            [
                "`files[1].dst` must be non-blank text, got a blank string",
                "unknown parameter `files[1].mod`; expected one of dst, mode",
                "Missing a required parameter name",
                "`timeout` must be a non-negative number of seconds, got a string",
                "`old` has no effect: it is old",
            ]
        );
        assert_eq!(messages(&json!([])), ["`parameters` must be a map, got an empty list"]);
    }

    #[test]
    fn defaults_are_filled_in_at_all_levels() {
        let (values, problems) =
            check_parameters(TABLE, &json!({"files": [{"dst": "/a"}], "name": "n", "timeout": null}));
        assert_eq!(problems, []);
        let values = values.unwrap();
        assert_eq!(values.seconds("timeout"), 60.0);
        assert_eq!(values.maps("files")[0].permissions("mode"), 0o644);
    }

    #[test]
    fn messages_do_not_contain_values() {
        let text = messages(&json!({"files": "hunter2", "name": {"a": "hunter2"}})).join("\n");
        assert!(!text.contains("hunter2"), "{text}");
    }
}
