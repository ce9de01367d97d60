//! The `regex` of a control: validation of text values, with the author's error message.

use stoker_model::{Json, JsonMap};
use stoker_yaql::pyregex::{Flags, Regex, ScanState, StepBudget};

/// Maximum number of steps for matching one text. Patterns come from plugins and texts from users, so
/// matching must be bounded.
const STEPS_MAX: u64 = 100_000;

/// Returns why a pattern is invalid. Patterns have Python syntax.
pub fn pattern_error(pattern: &str) -> Option<String> {
    Regex::new(pattern, Flags::default()).err().map(|error| error.message)
}

/// Validates a value of a control or setting with `{regex: {source, error}}`; returns the author's error
/// message. Strings and lists of strings are checked. An invalid pattern is ignored, because no value could
/// satisfy it.
pub fn pattern_violation(body: &JsonMap, value: &Json) -> Option<String> {
    let definition = body.get("regex")?;
    let source = definition.get("source").unwrap_or(definition).as_str()?;
    let regex = Regex::new(source, Flags::default()).ok()?;
    let texts: Vec<&str> = match value {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        _ => return None,
    };
    let message = || {
        let error = definition.get("error").and_then(Json::as_str).filter(|error| !error.is_empty());
        error.map_or_else(|| format!("must match `{source}`"), str::to_owned)
    };
    texts.into_iter().find_map(|text| match search(&regex, text) {
        Ok(true) => None,
        Ok(false) => Some(message()),
        Err(()) => Some(format!("matching `{source}` takes too long; use a simpler value")),
    })
}

/// Searches for the pattern; an error if the step limit is exceeded.
fn search(regex: &Regex, text: &str) -> Result<bool, ()> {
    let mut state = ScanState::default();
    state.work = StepBudget::new(STEPS_MAX);
    regex.search_from(text, &mut state).map(|span| span.is_some()).map_err(|_| ())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "keeps the test cases short")]
    fn check(regex: Json, value: Json) -> Option<String> {
        pattern_violation(json!({"regex": regex}).as_object().unwrap(), &value)
    }

    #[test]
    fn mismatch_has_the_message_of_the_author() {
        let name = || json!({"source": "^[a-z]+$", "error": "lower case letters only"});
        assert_eq!(check(name(), json!("abc")), None);
        assert_eq!(check(name(), json!("aBc")), Some("lower case letters only".to_owned()));
        assert_eq!(check(name(), json!(["abc", "1"])), Some("lower case letters only".to_owned()));
        assert_eq!(check(name(), json!(["abc", "d"])), None);
        assert_eq!(check(name(), json!(5)), None, "only text is checked");
        assert_eq!(check(json!({"source": "\\S"}), json!("  ")), Some("must match `\\S`".to_owned()));
        assert_eq!(
            check(json!({"source": "\\S", "error": ""}), json!("")),
            Some("must match `\\S`".to_owned())
        );
        // Unanchored search, like browsers.
        assert_eq!(check(json!({"source": "\\S"}), json!(" a ")), None);
        assert_eq!(
            check(json!({"source": "^(?!nova$)\\w+$", "error": "not nova"}), json!("nova")),
            Some("not nova".into())
        );
        assert_eq!(check(json!({"source": "^(?!nova$)\\w+$", "error": "not nova"}), json!("novas")), None);
    }

    #[test]
    fn invalid_patterns_are_ignored() {
        for regex in [json!({"source": "("}), json!({}), json!(null), json!(7), json!({"source": 1})] {
            assert_eq!(check(regex.clone(), json!("x")), None, "{regex}");
        }
        assert_eq!(pattern_violation(&JsonMap::new(), &json!("x")), None);
        assert!(pattern_error("(").is_some() && pattern_error("^a$").is_none());
    }

    #[test]
    fn matching_is_bounded() {
        let hostile = json!({"source": "^(?=x)?(a+)+\\1$", "error": "no"});
        let text = format!("{}!", "a".repeat(5000));
        let message = check(hostile, json!(text)).unwrap();
        assert!(message.contains("too long") || message == "no", "{message}");
    }
}
