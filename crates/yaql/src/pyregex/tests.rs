//! Comparison with results recorded from the reference, and tests of limits.
#![allow(clippy::unwrap_used, reason = "panicking is the failure mode of a test")]

use super::exec::{Detail, Route};
use super::*;
use crate::error::{ErrorClass, Result};
use serde_json::{Value, json};

/// One case per line: a pattern with its error, or with a text and all results for it.
const CASES: &str = include_str!("../../tests/data/pyregex.jsonl");

fn compile(case: &Value) -> Result<Regex> {
    let flags = case["flags"].as_str().unwrap();
    let on = |letter| flags.contains(letter);
    let flags = Flags { ignore_case: on('i'), multi_line: on('m'), dot_all: on('s'), unicode: on('u') };
    Regex::new(case["pattern"].as_str().unwrap(), flags)
}

/// Converts the groups of a match to character positions.
fn positions(text: &str, matched: &Match) -> Value {
    let count = |at: usize| text[..at].chars().count();
    matched.groups().iter().map(|span| span.map(|(start, end)| json!([count(start), count(end)]))).collect()
}

fn value(result: Result<Value>) -> Value {
    result.unwrap_or_else(|error| json!({"err": error.class.name(), "msg": error.message}))
}

fn results(regex: &Regex, case: &Value) -> Value {
    let text = case["text"].as_str().unwrap();
    let count = case["count"].as_i64().unwrap();
    let all: Result<Vec<Value>> =
        regex.find_iter(text).map(|matched| Ok(positions(text, &matched?))).collect();
    let replaced = Template::parse(case["template"].as_str().unwrap(), regex)
        .and_then(|template| regex.replace(text, &template, count));
    json!({
        "all": value(all.map(Value::from)),
        "split": value(regex.split(text, count).map(|parts| json!(parts))),
        "sub": value(replaced.map(Value::from)),
        "repr": python_repr(regex),
    })
}

#[test]
fn results_match_the_reference() {
    let mut wrong = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (expected, got) = match compile(&case) {
            Err(error) => (json!([case["err"], case["msg"]]), json!([error.class.name(), error.message])),
            Ok(regex) => {
                let expected = ["all", "split", "sub", "repr"].map(|key| (key.to_owned(), case[key].clone()));
                (expected.into_iter().collect(), results(&regex, &case))
            }
        };
        if expected != got {
            wrong.push(format!("{line}\n    got {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares every match of both engines, for the cases that the linear-time engine supports.
#[test]
fn engines_agree() {
    let mut compared = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let Ok(regex) = compile(&case) else { continue };
        let text = case["text"].as_str().unwrap();
        let route = regex.route(text);
        if route == Route::Backtrack {
            continue;
        }
        for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
            let find = |route| {
                regex.find(text, route, at, false, Detail::Groups, &mut StepBudget::default()).unwrap()
            };
            assert_eq!(find(route), find(Route::Backtrack), "{line} from {at}");
            compared += 1;
        }
        let first = regex.search(text).unwrap();
        assert_eq!(regex.is_match(text).unwrap(), first.is_some());
        let span = regex.find(text, route, 0, false, Detail::Span, &mut StepBudget::default()).unwrap();
        assert_eq!(span.map(|matched| matched.span()), first.map(|matched| matched.span()));
    }
    assert!(compared > 500, "{compared}");
}

fn class_of<T>(result: Result<T>) -> Option<ErrorClass> {
    result.err().map(|error| error.class)
}

fn new(pattern: &str) -> Result<Regex> {
    Regex::new(pattern, Flags::default())
}

#[test]
fn catastrophic_backtracking_hits_the_step_limit() {
    let text = format!("{}b", "a".repeat(60));
    for pattern in ["(?=a)(a+)+$", "(a|a)*+$", "(?:a*)*$", r"(a*)*\1$", "(a?){60}a{60}(?!b)"] {
        let result = new(pattern).unwrap().is_match(&text);
        assert!(matches!(class_of(result), None | Some(ErrorClass::StepLimit)), "{pattern}");
    }
    let result = new("(?=a)(a+)+$").unwrap().search(&text);
    assert_eq!(class_of(result), Some(ErrorClass::StepLimit));
    // Regular patterns run in linear time.
    assert!(!new("(a+)+$").unwrap().is_match(&text).unwrap());
}

#[test]
fn long_texts_do_not_exhaust_the_stack() {
    let text = "ab".repeat(200_000);
    for pattern in ["(?=a)(?:ab)*$", "(?=a)(?:(a)|(b))*$", "(?=a)(?:ab)*?$", "(?:ab)*+$", "(?>(?:ab)*)$"] {
        let result = new(pattern).unwrap().search(&text);
        match result {
            Ok(matched) => assert_eq!(matched.unwrap().span(), (0, text.len()), "{pattern}"),
            Err(error) => assert_eq!(error.class, ErrorClass::StepLimit, "{pattern}"),
        }
    }
}

#[test]
fn large_patterns_are_bounded() {
    let too_large = |pattern: &str| assert_eq!(class_of(new(pattern)), Some(ErrorClass::Regex));
    too_large(&"x".repeat(1 << 19));
    too_large("a{1000}{1000}{1000}");
    assert_eq!(class_of(new(&"(".repeat(5_000))), Some(ErrorClass::Recursion));
    assert_eq!(class_of(new("a{4294967295}")), Some(ErrorClass::Overflow));
    let deep = format!("{}a{}", "(".repeat(390), ")".repeat(390));
    assert_eq!(new(&deep).unwrap().search("ba").unwrap().unwrap().groups().len(), 391);
    let deep = format!("{}a{}", "(?:(?=".repeat(190), "))*".repeat(190));
    assert!(new(&deep).unwrap().is_match("ba").unwrap());
    let nested = new("(?:(?:a{1000}){1000}){1000}").unwrap();
    assert!(!matches!(nested.is_match(&"a".repeat(2_000)), Ok(true)));
    let wide = new(&r"\w".repeat(50_000)).unwrap();
    assert!(!wide.is_match("é").unwrap());
}

#[test]
fn flags_and_names_are_reported() {
    let regex = new(r"(?ims)(?P<one>a)(b)(?P<two>c)").unwrap();
    let expected = Flags { ignore_case: true, multi_line: true, dot_all: true, unicode: true };
    assert_eq!(regex.flags(), expected);
    assert_eq!(regex.group_count(), 3);
    assert_eq!(regex.group_names().collect::<Vec<_>>(), [("one", 1), ("two", 3)]);
    assert_eq!(
        python_repr(&regex),
        r"re.compile('(?ims)(?P<one>a)(b)(?P<two>c)', re.IGNORECASE|re.MULTILINE|re.DOTALL)"
    );
    assert_eq!(python_repr(&new(&"a".repeat(300)).unwrap()).len(), 212);
    assert_eq!(new("a").unwrap(), new("a").unwrap());
    assert_ne!(new("a").unwrap(), new("(?i)a").unwrap());
}

#[test]
fn scan_resumes_and_stays_finished() {
    let regex = new("x*").unwrap();
    let mut state = ScanState::default();
    let mut spans = Vec::new();
    while let Some(matched) = regex.search_from("axb", &mut state).unwrap() {
        spans.push(matched.span());
    }
    assert_eq!(spans, [(0, 0), (1, 2), (2, 2), (3, 3)]);
    assert!(regex.search_from("axb", &mut state).unwrap().is_none());
    // A state used with another text must not panic.
    let mut state = ScanState::default();
    regex.search_from("xxxx", &mut state).unwrap();
    assert!(regex.search_from("é", &mut state).unwrap().is_none());
}

#[test]
fn replacement_function_errors_are_returned() {
    let regex = new(r"(\d)").unwrap();
    let text = "a1b2";
    let double = |matched: &Match| Ok(matched.text(1, text).unwrap_or_default().repeat(2));
    assert_eq!(regex.replace_with(text, 0, &mut { double }).unwrap(), "a11b22");
    assert_eq!(regex.replace_with(text, 1, &mut { double }).unwrap(), "a11b2");
    assert_eq!(regex.replace_with(text, -1, &mut { double }).unwrap(), text);
    let mut fail = |_: &Match| Err(Box::new(crate::Error::value("no")));
    assert_eq!(class_of(regex.replace_with(text, 0, &mut fail)), Some(ErrorClass::Value));
}
