//! Whether settings may get the values given. What does not change is not judged: a release may propose values that
//! no operator could enter.

use stoker_model::{Json, JsonMap};
use stoker_registry::patterns::mismatch;

use stoker_services::ErrorDetail;

/// Everything that is wrong with sections that shall be merged into the stored ones.
pub(super) fn sections(stored: &JsonMap, given: &JsonMap) -> Vec<ErrorDetail> {
    let mut problems = Vec::new();
    for (name, section) in given {
        let path = format!("editable.{name}");
        match section {
            Json::Object(section) => {
                let stored = stored.get(name).and_then(Json::as_object);
                problems.extend(settings(&path, stored.unwrap_or(&JsonMap::new()), section));
            }
            other => {
                problems
                    .push(problem(&path, &format!("a section is a map of settings, not {}", kind(other))));
            }
        }
    }
    problems
}

/// The same for the settings of one section.
pub(super) fn settings(path: &str, stored: &JsonMap, given: &JsonMap) -> Vec<ErrorDetail> {
    let checked = given.iter().filter_map(|(name, setting)| {
        let stored = stored.get(name)?.as_object()?;
        let path = format!("{path}.{name}");
        let Some(setting) = setting.as_object() else {
            let message = format!("a setting is a map with its `value`, not {}", kind(setting));
            return Some(problem(&path, &message));
        };
        let value = setting.get("value").filter(|value| Some(*value) != stored.get("value"))?;
        let wrong = wrong_value(stored, value).map(|wanted| format!("must be {wanted}"));
        let wrong = wrong.or_else(|| mismatch(stored, value))?;
        Some(problem(&format!("{path}.value"), &wrong))
    });
    checked.collect()
}

/// What the value should have been, if it is not that.
fn wrong_value(setting: &JsonMap, value: &Json) -> Option<String> {
    let is_nullable = setting.get("nullable").is_some_and(|flag| *flag == Json::Bool(true));
    if value.is_null() && is_nullable {
        return None;
    }
    let texts = |value: &Json| value.as_array().is_some_and(|items| items.iter().all(Json::is_string));
    let (is_right, wanted) = match setting.get("type").and_then(Json::as_str)? {
        "checkbox" => (value.is_boolean(), "true or false".to_owned()),
        "text" | "password" | "textarea" => (value.is_string(), "text".to_owned()),
        "text_list" | "textarea_list" => (texts(value), "a list of texts".to_owned()),
        "number" => (value.is_number() && within(setting, value), number_words(setting)),
        "radio" | "select" => return wrong_choice(setting, value),
        _ => return None,
    };
    (!is_right).then(|| format!("{wanted}, this is {}", kind(value)))
}

fn wrong_choice(setting: &JsonMap, value: &Json) -> Option<String> {
    let choices = setting.get("values").and_then(Json::as_array)?;
    let known: Vec<&Json> = choices.iter().filter_map(|choice| choice.get("data")).collect();
    if known.contains(&value) {
        return None;
    }
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    Some(format!("one of {}", known.join(", ")))
}

fn within(setting: &JsonMap, value: &Json) -> bool {
    let Some(value) = value.as_f64() else { return false };
    let limit = |name: &str| setting.get(name).and_then(Json::as_f64);
    limit("min").is_none_or(|min| value >= min) && limit("max").is_none_or(|max| value <= max)
}

fn number_words(setting: &JsonMap) -> String {
    let limit = |name: &str, word: &str| {
        setting.get(name).map(|limit| format!(" {word} {limit}")).unwrap_or_default()
    };
    format!("a number{}{}", limit("min", "from"), limit("max", "to"))
}

fn problem(path: &str, message: &str) -> ErrorDetail {
    ErrorDetail::new(path, format!("{path}: {message}"))
}

fn kind(value: &Json) -> String {
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

    fn check(given: &Json) -> Vec<String> {
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
        let problems = sections(stored.as_object().unwrap(), given.as_object().unwrap());
        problems.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn values_of_the_right_kind_pass() {
        for given in [
            json!({}),
            json!({"common": {"debug": {"value": true}, "size": {"value": 9}, "hypervisor": {"value": "kvm"}}}),
            json!({"common": {"servers": {"value": ["a"]}, "hint": {"value": null}, "free": {"value": [1]}}}),
            json!({"common": {"name": {"value": {"generator": "odd"}}}}),
            json!({"new section": {"anything": 1}}),
            json!({"common": {"new setting": 1}}),
            json!({"common": {"user": {"value": "ada"}, "words": {"value": ["a", "b"]}}}),
            json!({"common": {"user": {"value": ""}}}),
        ] {
            assert_eq!(check(&given), [""; 0], "{given}");
        }
    }

    #[test]
    fn every_wrong_value_is_told() {
        let given = json!({"common": {
            "debug": {"value": "yes"}, "name": {"value": 1}, "size": {"value": 10}, "hypervisor": {"value": "xen"},
            "servers": {"value": "a,b"}, "free": true, "user": {"value": "a b"}, "words": {"value": ["a", ""]},
        }, "other": []});
        let expected = [
            "editable.common.debug.value: must be true or false, this is text",
            "editable.common.name.value: must be text, this is 1",
            "editable.common.size.value: must be a number from 1 to 9, this is 10",
            "editable.common.hypervisor.value: must be one of \"qemu\", \"kvm\"",
            "editable.common.servers.value: must be a list of texts, this is text",
            "editable.common.free: a setting is a map with its `value`, not true",
            "editable.common.user.value: letters only",
            "editable.common.words.value: letters only",
            "editable.other: a section is a map of settings, not a list",
        ];
        assert_eq!(check(&given), expected);
    }
}
