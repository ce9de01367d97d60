//! The `regex` of a control: what a text must look like, and what its author says of a text that does not.

use stoker_model::{Json, JsonMap};
use stoker_yaql::pyregex::{Flags, Regex, ScanState, Work};

/// What looking at one text may cost. Patterns come from plugins, and texts from anybody.
const STEPS_MAX: u64 = 100_000;

/// Why a pattern is none; the pattern is what plugins and releases write, with the syntax of Python.
pub fn pattern_error(pattern: &str) -> Option<String> {
    Regex::new(pattern, Flags::default()).err().map(|error| error.message)
}

/// What is wrong with a value of a control or setting whose body is `{regex: {source, error}}`: in the words of its
/// author. Texts are judged, and the texts of a list; a pattern that is none says nothing, as nobody could satisfy it.
pub fn mismatch(body: &JsonMap, value: &Json) -> Option<String> {
    let written = body.get("regex")?;
    let source = written.get("source").unwrap_or(written).as_str()?;
    let regex = Regex::new(source, Flags::default()).ok()?;
    let texts: Vec<&str> = match value {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        _ => return None,
    };
    let said = || {
        let error = written.get("error").and_then(Json::as_str).filter(|error| !error.is_empty());
        error.map_or_else(|| format!("must match `{source}`"), str::to_owned)
    };
    texts.into_iter().find_map(|text| match look(&regex, text) {
        Ok(true) => None,
        Ok(false) => Some(said()),
        Err(()) => {
            Some(format!("whether it matches `{source}` takes too long to find out; choose a simpler text"))
        }
    })
}

/// Whether the pattern is found anywhere; an error if that costs too much.
fn look(regex: &Regex, text: &str) -> Result<bool, ()> {
    let mut state = ScanState::default();
    state.work = Work::of(STEPS_MAX);
    regex.search_from(text, &mut state).map(|found| found.is_some()).map_err(|_| ())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "cases are written where they are used")]
    fn told(regex: Json, value: Json) -> Option<String> {
        mismatch(json!({"regex": regex}).as_object().unwrap(), &value)
    }

    #[test]
    fn texts_are_judged_in_the_words_of_the_author() {
        let name = || json!({"source": "^[a-z]+$", "error": "lower case letters only"});
        assert_eq!(told(name(), json!("abc")), None);
        assert_eq!(told(name(), json!("aBc")), Some("lower case letters only".to_owned()));
        assert_eq!(told(name(), json!(["abc", "1"])), Some("lower case letters only".to_owned()));
        assert_eq!(told(name(), json!(["abc", "d"])), None);
        assert_eq!(told(name(), json!(5)), None, "what is no text is somebody else's business");
        assert_eq!(told(json!({"source": "\\S"}), json!("  ")), Some("must match `\\S`".to_owned()));
        assert_eq!(
            told(json!({"source": "\\S", "error": ""}), json!("")),
            Some("must match `\\S`".to_owned())
        );
        // It is looked for, as browsers do it.
        assert_eq!(told(json!({"source": "\\S"}), json!(" a ")), None);
        assert_eq!(
            told(json!({"source": "^(?!nova$)\\w+$", "error": "not nova"}), json!("nova")),
            Some("not nova".into())
        );
        assert_eq!(told(json!({"source": "^(?!nova$)\\w+$", "error": "not nova"}), json!("novas")), None);
    }

    #[test]
    fn patterns_that_are_none_forbid_nothing() {
        for strange in [json!({"source": "("}), json!({}), json!(null), json!(7), json!({"source": 1})] {
            assert_eq!(told(strange.clone(), json!("x")), None, "{strange}");
        }
        assert_eq!(mismatch(&JsonMap::new(), &json!("x")), None);
        assert!(pattern_error("(").is_some() && pattern_error("^a$").is_none());
    }

    #[test]
    fn no_pattern_takes_long() {
        let evil = json!({"source": "^(?=x)?(a+)+\\1$", "error": "no"});
        let text = format!("{}!", "a".repeat(5000));
        let told = told(evil, json!(text)).unwrap();
        assert!(told.contains("too long") || told == "no", "{told}");
    }
}
