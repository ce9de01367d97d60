//! Validation of submitted settings against their declared types. Unchanged values are not validated: a
//! release may declare defaults that would be rejected if an operator entered them.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap};
use stoker_registry::patterns::pattern_violation;

/// Validates sections before they are merged into the stored settings, and returns all problems.
pub(super) fn sections(stored: &JsonMap, submitted: &JsonMap) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (name, section) in submitted {
        let path = format!("editable.{name}");
        match section {
            Json::Object(section) => {
                let stored = stored.get(name).and_then(Json::as_object);
                problems.extend(settings(&path, stored.unwrap_or(&JsonMap::new()), section));
            }
            other => {
                problems.push(problem(
                    &path,
                    &format!("expected a map of settings, got {}", describe_value(other)),
                ));
            }
        }
    }
    problems
}

/// Validates the settings of one section.
pub(crate) fn settings(path: &str, stored: &JsonMap, submitted: &JsonMap) -> Vec<Diagnostic> {
    let problems = submitted.iter().filter_map(|(name, setting)| {
        let stored = stored.get(name)?.as_object()?;
        let path = format!("{path}.{name}");
        let Some(setting) = setting.as_object() else {
            let message = format!("expected a map with `value`, got {}", describe_value(setting));
            return Some(problem(&path, &message));
        };
        let value = setting.get("value").filter(|value| Some(*value) != stored.get("value"))?;
        let message = type_mismatch(stored, value).map(|expected| format!("must be {expected}"));
        let message = message.or_else(|| pattern_violation(stored, value))?;
        Some(problem(&format!("{path}.value"), &message))
    });
    problems.collect()
}

/// Describes the expected value if `value` does not match the type of the setting.
fn type_mismatch(setting: &JsonMap, value: &Json) -> Option<String> {
    let is_nullable = setting.get("nullable").is_some_and(|flag| *flag == Json::Bool(true));
    if value.is_null() && is_nullable {
        return None;
    }
    let is_string_list =
        |value: &Json| value.as_array().is_some_and(|items| items.iter().all(Json::is_string));
    let (is_valid, expected) = match setting.get("type").and_then(Json::as_str)? {
        "checkbox" => (value.is_boolean(), "true or false".to_owned()),
        "text" | "password" | "textarea" => (value.is_string(), "text".to_owned()),
        "text_list" | "textarea_list" => (is_string_list(value), "a list of texts".to_owned()),
        "number" => (value.is_number() && is_in_range(setting, value), describe_range(setting)),
        "radio" | "select" => return option_mismatch(setting, value),
        _ => return None,
    };
    (!is_valid).then(|| format!("{expected}, got {}", describe_value(value)))
}

fn option_mismatch(setting: &JsonMap, value: &Json) -> Option<String> {
    let values = setting.get("values").and_then(Json::as_array)?;
    let options: Vec<&Json> = values.iter().filter_map(|choice| choice.get("data")).collect();
    if options.contains(&value) {
        return None;
    }
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    Some(format!("one of {}", options.join(", ")))
}

fn is_in_range(setting: &JsonMap, value: &Json) -> bool {
    let Some(value) = value.as_f64() else { return false };
    let limit = |name: &str| setting.get(name).and_then(Json::as_f64);
    limit("min").is_none_or(|min| value >= min) && limit("max").is_none_or(|max| value <= max)
}

fn describe_range(setting: &JsonMap) -> String {
    let limit = |name: &str, word: &str| {
        setting.get(name).map(|limit| format!(" {word} {limit}")).unwrap_or_default()
    };
    format!("a number{}{}", limit("min", "from"), limit("max", "to"))
}

fn problem(path: &str, message: &str) -> Diagnostic {
    Diagnostic::plain(format!("{path}: {message}")).path(path)
}

fn describe_value(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(_) => "text".to_owned(),
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "a map".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(submitted: &Json) -> Vec<String> {
        let stored = json!({"common": {
            "metadata": {"label": "Common"},
            "debug": {"type": "checkbox", "value": false},
            "name": {"type": "text", "value": {"generator": "odd"}},
            "size": {"type": "number", "min": 1, "max": 9, "value": 3},
            "hypervisor": {"type": "radio", "value": "qemu", "values": [{"data": "qemu"}, {"data": "kvm"}]},
            "servers": {"type": "text_list", "value": []},
            "hint": {"type": "text", "value": null, "nullable": true},
            "free": {"type": "hidden", "value": 1},
            "user": {"type": "text", "value": "", "regex": {"source": "^\\w+$", "error": "letters only"}},
            "words": {"type": "text_list", "value": [], "regex": {"source": "^\\w+$", "error": "letters only"}},
        }});
        let problems = sections(stored.as_object().unwrap(), submitted.as_object().unwrap());
        problems.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn valid_values_are_accepted() {
        for submitted in [
            json!({}),
            json!({"common": {"debug": {"value": true}, "size": {"value": 9}, "hypervisor": {"value": "kvm"}}}),
            json!({"common": {"servers": {"value": ["a"]}, "hint": {"value": null}, "free": {"value": [1]}}}),
            json!({"common": {"name": {"value": {"generator": "odd"}}}}),
            json!({"new section": {"anything": 1}}),
            json!({"common": {"new setting": 1}}),
            json!({"common": {"user": {"value": "ada"}, "words": {"value": ["a", "b"]}}}),
            json!({"common": {"user": {"value": ""}}}),
        ] {
            assert_eq!(check(&submitted), [""; 0], "{submitted}");
        }
    }

    #[test]
    fn all_invalid_values_are_reported() {
        let submitted = json!({"common": {
            "debug": {"value": "yes"}, "name": {"value": 1}, "size": {"value": 10}, "hypervisor": {"value": "xen"},
            "servers": {"value": "a,b"}, "free": true, "user": {"value": "a b"}, "words": {"value": ["a", ""]},
        }, "other": []});
        let expected = [
            "editable.common.debug.value: must be true or false, got text",
            "editable.common.name.value: must be text, got 1",
            "editable.common.size.value: must be a number from 1 to 9, got 10",
            "editable.common.hypervisor.value: must be one of \"qemu\", \"kvm\"",
            "editable.common.servers.value: must be a list of texts, got text",
            "editable.common.free: expected a map with `value`, got true",
            "editable.common.user.value: letters only",
            "editable.common.words.value: letters only",
            "editable.other: expected a map of settings, got a list",
        ];
        assert_eq!(check(&submitted), expected);
    }
}
