//! Truth tables of the state functions.

use crate::small;

use serde_json::{Value as Json, json};
use small::state;
use stoker_planner::{evaluate, library, options};
use stoker_yaql::Engine;
use stoker_yaql::json::{WriteOptions, write};

fn result_text(text: &str, new: &Json, old: Option<&Json>) -> String {
    let expression = Engine::new(library()).compile(text).expect("it parses");
    let (new, old) = (state(new, &json!({})), old.map(|old| state(old, &json!({}))));
    match evaluate(&expression, &new, old.as_ref(), &options(1)) {
        Ok(value) => {
            write(&value, &WriteOptions { tags: false, ..WriteOptions::default() }).unwrap_or("?".to_owned())
        }
        Err(_) => "error".to_owned(),
    }
}

/// Checks the results without an old state, and with an equal one.
fn check(text: &str, without: &str, equal: &str) {
    let new = json!({"a": 1, "list": [1, 2], "l": [{"x": 1}, {"x": 2}]});
    assert_eq!(result_text(text, &new, None), without, "{text}, no old state");
    assert_eq!(result_text(text, &new, Some(&new)), equal, "{text}, equal old state");
}

#[test]
fn state_functions_match_the_reference() {
    check("changed($.a)", "true", "false");
    check("changed($.absent)", "false", "false");
    check("changed($.get(a))", "true", "false");
    check("changed($.get(absent))", "false", "false");
    check("changed($.get(absent, []))", "false", "false");
    check("changed($)", "true", "false");
    check("changed(1)", "false", "false");
    check("old($).len()", "0", "3");
    check("old($.a).isUndef()", "true", "false");
    check("not old($.a)", "false", "false");
    check("added($.list)", "[1, 2]", "[]");
    check("deleted($.list)", "null", "[]");
    check("changedAny()", "false", "false");
    check("changedAll()", "true", "true");
    check("changedAny($.get(absent), $.a)", "true", "false");
    check("changedAll($.get(absent), $.a)", "false", "false");
    check("$.l.where($.x = new($.a)).len()", "1", "1");
    check("changed($.l.where($.x = new($.a)))", "true", "false");
}

/// A path that neither state has is unchanged; one that only one of them has is changed.
#[test]
fn missing_paths_are_unchanged_while_neither_state_has_them() {
    let empty = json!({});
    let part = json!({"a": {"b": {}}});
    let whole = json!({"a": {"b": {"c": 1}}, "list": [{"x": 1}, {}]});
    let table = [
        // expression, new state, old state, result
        ("changed($.a)", &empty, None, "false"),
        ("changed($.a)", &empty, Some(&empty), "false"),
        ("changed($.a.b)", &empty, Some(&empty), "false"),
        ("changed($.a.b.c)", &part, Some(&empty), "false"),
        ("changed($.a.b.c)", &part, None, "false"),
        ("changed($.a.b.c)", &whole, Some(&part), "true"),
        ("changed($.a.b.c)", &part, Some(&whole), "true"),
        ("changed($.a.b.c)", &empty, Some(&whole), "true"),
        ("changed($.a['b'].c)", &part, Some(&empty), "false"),
        ("changed($.list.where($.x = 1).len())", &part, Some(&empty), "false"),
        ("changed($.list.where($.x = 1))", &part, Some(&whole), "true"),
        ("changedAny($.a.b.c, $.list)", &part, Some(&empty), "false"),
        ("changedAny($.a.b.c, $.a)", &part, Some(&empty), "true"),
        ("changedAll($.a, $.a.b.c)", &part, Some(&empty), "false"),
        ("not changed($.a.b.c)", &part, Some(&empty), "true"),
        // A key that is missing in one element hides a change of the others.
        ("changed($.list.x)", &whole, Some(&whole), "error"),
        ("changed($.list.select($.x))", &whole, Some(&whole), "error"),
        ("changed($.a.b.c.d)", &whole, Some(&whole), "error"),
        ("changed($.list.len(1))", &whole, Some(&whole), "error"),
        ("$.a.b.c", &part, Some(&empty), "error"),
        ("added($.a.b.c)", &part, Some(&empty), "error"),
    ];
    for (text, new, old, expected) in table {
        assert_eq!(result_text(text, new, old), expected, "{text} over {new} and {old:?}");
    }
}

/// In Python YAQL lazy iterators escape the guard: these expressions raise there if an old element lacks
/// `x`.
#[test]
fn iterators_are_materialized_inside_the_guard() {
    let (new, old) = (json!({"l": [{"x": 1}]}), json!({"l": [{"y": 1}]}));
    for text in [
        "changed($.l.select($.x))",
        "changed($.l.x)",
        "old($.l.select($.x)).isUndef()",
        "old($.l.x).isUndef()",
    ] {
        assert_eq!(result_text(text, &new, Some(&old)), "true", "{text}");
    }
    assert_eq!(result_text("added($.l.x)", &new, Some(&old)), "[1]");
    assert_eq!(result_text("deleted($.l.x)", &new, Some(&old)), "null");
}

#[test]
fn differences_are_one_level_deep() {
    let new = json!({"m": {"a": 1, "b": 3}, "l": [1, 5, 2, 3], "t": "x\nz", "n": 2, "k": "s"});
    let old = json!({"m": {"a": 1, "b": 2, "c": 4}, "l": [1, 2, 3, 4], "t": "x\ny", "n": 1, "k": [1]});
    let both = |text: &str| {
        [
            result_text(&format!("added({text})"), &new, Some(&old)),
            result_text(&format!("deleted({text})"), &new, Some(&old)),
        ]
    };
    assert_eq!(both("$.m"), [r#"{"b": 3}"#, r#"{"b": 2, "c": 4}"#]);
    assert_eq!(both("$.l"), ["[5]", "[4]"]);
    assert_eq!(both("$.t"), [r#"["z"]"#, r#"["y"]"#]);
    assert_eq!(both("$.n"), ["2", "1"]);
    assert_eq!(both("$.k"), ["\"s\"", "[1]"]);
    assert_eq!(both("$.l.toSet()"), ["[5]", "[4]"]);
    assert_eq!(both("null"), ["null", "null"]);
}

#[test]
fn values_convert_to_yaml_and_json() {
    let new = json!({"m": {"b": [1, "yes", {"c": null}], "a": "x: y", "e": {}, "f": []}});
    let yaml = result_text("$.m.toYaml()", &new, None);
    assert_eq!(yaml, r#""a: 'x: y'\nb:\n- 1\n- 'yes'\n- c: null\ne: {}\nf: []\n""#);
    assert_eq!(result_text("$.m.b.toJson()", &new, None), r#""[1, \"yes\", {\"c\": null}]""#);
    assert_eq!(result_text("old($.x).toYaml()", &new, None), "error");
}
