//! Semantics of the language, compared with the reference.

use serde_json::{Value as Json, json};
use stoker_conditions::{Condition, Dialect, codes, is_true};

fn models() -> (Json, Json, Json) {
    let settings = json!({
        "storage": {"ceph": {"value": true}, "pools": ["a", "b"], "n": 3, "empty": null, "name": "lvm"},
        "common": {"debug": {"value": false}},
    });
    (
        settings,
        json!({"mode": "ha_compact", "components": ["network:core:gridnet"]}),
        json!({"Compute": {"kvm": true}}),
    )
}

fn evaluate(text: &str, dialect: Dialect) -> Result<Json, (&'static str, String)> {
    let (settings, cluster, wizard) = models();
    let lookup = |name: &str| match name {
        "settings" => Some(&settings),
        "cluster" => Some(&cluster),
        "wizard" => Some(&wizard),
        _ => None,
    };
    let condition = Condition::parse_as(text, dialect).map_err(|error| (error.code, error.message))?;
    condition.evaluate(&lookup).map_err(|error| (error.code, error.message))
}

fn value(text: &str) -> Json {
    evaluate(text, Dialect::Task).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn code(text: &str, dialect: Dialect) -> &'static str {
    evaluate(text, dialect).expect_err(text).0
}

#[test]
fn constants_and_paths_are_evaluated() {
    for (text, expected) in [
        ("5", json!(5)),
        ("-5", json!(-5)),
        ("007", json!(7)),
        ("'a b'", json!("a b")),
        ("\"it's\"", json!("it's")),
        ("''", json!("")),
        ("true", json!(true)),
        ("false", json!(false)),
        ("null", json!(null)),
        ("((true))", json!(true)),
        ("settings:storage.n", json!(3)),
        ("settings:storage.n?", json!(3)),
        ("settings:storage.pools", json!(["a", "b"])),
        ("\n settings:storage.ceph.value\t", json!(true)),
        ("cluster:mode", json!("ha_compact")),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn operator_precedence_matches_the_reference() {
    for (text, expected) in [
        // `and` binds tighter than `or`, comparisons tighter than both.
        ("true or false and false", json!(true)),
        ("(true or false) and false", json!(false)),
        ("1 == 1 and 2 == 3 or 4 == 4", json!(true)),
        // Left-associative.
        ("1 == 1 == true", json!(true)),
        ("2 == 2 == 2", json!(false)),
        ("1 != 2 != false", json!(true)),
        // `not` binds tightest: (not 'x') in […] and (not 3) == 3.
        ("not 'a' in settings:storage.pools", json!(false)),
        ("not ('z' in settings:storage.pools)", json!(true)),
        ("not settings:storage.n == 3", json!(false)),
        ("not (settings:storage.n == 4)", json!(true)),
        ("not not 5", json!(true)),
        ("true == not false", json!(true)),
        ("false in settings:storage.pools == false", json!(true)),
        ("not(true)", json!(false)),
        ("not 'a' == false", json!(true)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn and_and_or_return_the_deciding_operand() {
    for (text, expected) in [
        ("0 or 'b'", json!("b")),
        ("'a' or nowhere:x", json!("a")),
        ("0 and nowhere:x", json!(0)),
        ("1 and 'b'", json!("b")),
        ("'' or 0 or null", json!(null)),
        ("1 and 2 and 3", json!(3)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn decision_names_the_deciding_part() {
    let condition = Condition::parse("true and (1 == 1 or false) and settings:a == 5").unwrap();
    let settings = json!({"a": 4});
    let decision = condition.decide(&|_: &str| Some(&settings)).unwrap();
    let text = "true and (1 == 1 or false) and settings:a == 5";
    assert_eq!((decision.value, &text[decision.span]), (json!(false), "settings:a == 5"));
    let settings = json!({"a": 5});
    let decision = condition.decide(&|_: &str| Some(&settings)).unwrap();
    assert_eq!((decision.value, &text[decision.span]), (json!(true), text));
}

#[test]
fn task_equality_mixes_booleans_and_numbers() {
    for (text, task, restriction) in [
        ("true == 1", true, false),
        ("0 == false", true, false),
        ("true != 1", false, true),
        ("1 == 1", true, true),
        ("'1' == 1", false, false),
        ("null == false", false, false),
        ("null == null", true, true),
        ("'a' == \"a\"", true, true),
        ("true == 2", false, false),
    ] {
        assert_eq!(evaluate(text, Dialect::Task), Ok(json!(task)), "{text}");
        assert_eq!(evaluate(text, Dialect::RESTRICTION), Ok(json!(restriction)), "{text}");
    }
    let (left, right) = (json!({"a": [true, {"b": 1.0}]}), json!({"a": [1, {"b": true}]}));
    let lookup = |name: &str| Some(if name == "l" { &left } else { &right });
    assert!(Condition::parse("l:a == r:a").unwrap().is_true(&lookup).unwrap());
    assert!(!Condition::parse_as("l:a == r:a", Dialect::RESTRICTION).unwrap().is_true(&lookup).unwrap());
    let large = json!({"a": u64::MAX, "b": 18_446_744_073_709_551_614_u64, "c": 1e300});
    let lookup = |_: &str| Some(&large);
    assert!(!Condition::parse("m:a == m:b").unwrap().is_true(&lookup).unwrap());
    assert!(Condition::parse("m:c == m:c").unwrap().is_true(&lookup).unwrap());
}

#[test]
fn membership_is_evaluated() {
    assert_eq!(value("'a' in settings:storage.pools"), json!(true));
    assert_eq!(value("'compact' in cluster:mode"), json!(true));
    assert_eq!(value("'network:core:gridnet' in cluster:components"), json!(true));
    assert_eq!(value("'n' in settings:storage"), json!(true), "a key of a map");
    assert_eq!(value("3 in settings:storage"), json!(false));
    assert_eq!(code("'n' in settings:storage", Dialect::RESTRICTION), codes::TYPE);
    for text in ["'a' in null", "'a' in 5", "5 in 'a5'", "null in 'a'", "'a' in true"] {
        assert_eq!(code(text, Dialect::Task), codes::TYPE, "{text}");
        assert_eq!(code(text, Dialect::RESTRICTION), codes::TYPE, "{text}");
    }
}

#[test]
fn missing_keys_depend_on_the_dialect() {
    let strict = Dialect::RESTRICTION;
    let lenient = Dialect::LENIENT_RESTRICTION;
    // The key is missing.
    assert_eq!(evaluate("settings:storage.zzz", Dialect::Task), Ok(json!(null)));
    assert_eq!(evaluate("settings:storage.zzz", lenient), Ok(json!(null)));
    assert_eq!(code("settings:storage.zzz", strict), codes::MISSING_KEY);
    // The parent of the key is null.
    assert_eq!(code("settings:storage.empty.x", Dialect::Task), codes::TYPE);
    assert_eq!(code("settings:zzz.x", Dialect::Task), codes::TYPE);
    assert_eq!(evaluate("settings:storage.empty.x.y", lenient), Ok(json!(null)));
    assert_eq!(code("settings:storage.empty.x", strict), codes::MISSING_KEY);
    // A key of text, a number or a list.
    for text in ["settings:storage.name.x", "settings:storage.n.x", "settings:storage.pools.0"] {
        for dialect in [Dialect::Task, strict, lenient] {
            assert_eq!(code(text, dialect), codes::TYPE, "{text}");
        }
    }
    for dialect in [Dialect::Task, strict, lenient] {
        assert_eq!(code("nowhere:x", dialect), codes::UNKNOWN_MODEL);
    }
}

#[test]
fn decimals_are_supported_in_restrictions_only() {
    assert_eq!(evaluate("1.5", Dialect::RESTRICTION), Ok(json!(1.5)));
    assert_eq!(evaluate("-1.5 == -1.50", Dialect::RESTRICTION), Ok(json!(true)));
    assert_eq!(evaluate("2.0 == 2", Dialect::RESTRICTION), Ok(json!(true)));
    assert_eq!(evaluate("1.5", Dialect::LEGACY_WIZARD), Ok(json!(1.5)));
    assert_eq!(code("1.5", Dialect::Task), codes::SYNTAX);
    assert_eq!(code("1.", Dialect::RESTRICTION), codes::SYNTAX);
    assert_eq!(code(".5", Dialect::RESTRICTION), codes::SYNTAX);
}

#[test]
fn default_model_makes_the_prefix_optional() {
    assert_eq!(evaluate("Compute.kvm == true", Dialect::LEGACY_WIZARD), Ok(json!(true)));
    assert_eq!(evaluate("not (Compute.kvm == true)", Dialect::LEGACY_WIZARD), Ok(json!(false)));
    assert_eq!(evaluate(":Compute.kvm", Dialect::LEGACY_WIZARD), Ok(json!(true)));
    assert_eq!(evaluate("cluster:mode", Dialect::LEGACY_WIZARD), Ok(json!("ha_compact")));
    assert_eq!(evaluate("5", Dialect::LEGACY_WIZARD), Ok(json!(5)));
    for dialect in [Dialect::Task, Dialect::RESTRICTION] {
        assert_eq!(code("Compute.kvm == true", dialect), codes::SYNTAX);
        assert_eq!(code(":Compute.kvm", dialect), codes::SYNTAX);
    }
}

#[test]
fn empty_and_zero_values_are_false() {
    for value in
        [json!(null), json!(false), json!(0), json!(0.0), json!(-0.0), json!(""), json!([]), json!({})]
    {
        assert!(!is_true(&value), "{value}");
    }
    for value in [json!(true), json!(-1), json!(0.5), json!("0"), json!("false"), json!([0]), json!({"a": 0})]
    {
        assert!(is_true(&value), "{value}");
    }
}

#[test]
fn paths_are_listed_in_text_order() {
    let condition = Condition::parse("a:x.y == 1 and not (b:z in c:l-m) or a:x.y").unwrap();
    let paths: Vec<String> = condition.paths().iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["a:x.y", "b:z", "c:l-m", "a:x.y"]);
}

#[test]
fn not_before_a_comparison_is_a_warning() {
    let warnings = |text: &str| -> Vec<String> {
        let warnings = Condition::parse(text).unwrap().warnings();
        warnings.into_iter().map(|warning| warning.location.span.unwrap().slice(text).to_owned()).collect()
    };
    assert_eq!(warnings("not a:b == c:d"), ["not a:b == c:d"]);
    assert_eq!(warnings("true and not 'x' in a:l or true"), ["not 'x' in a:l"]);
    for text in ["not (a:b == c:d)", "(not a:b) == c:d", "a:b == not c:d", "not a:b and c:d == 1"] {
        assert_eq!(warnings(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn syntax_errors_have_span_and_hint() {
    for (text, span, help) in [
        ("", 0..0, "remove it, or write `true`"),
        ("  ", 0..0, "remove it, or write `true`"),
        ("settings:a = 5", 11..12, "write `==`"),
        ("settings:a >= 5", 11..12, "the comparison operators are `==`, `!=` and `in`"),
        ("settings:a && true", 11..13, "write `and`"),
        ("settings:a || true", 11..13, "write `or`"),
        ("!settings:a", 0..1, "write `not`, or `!=` between two values"),
        ("settings:a == True", 14..18, "write `true`"),
        ("true AND true", 5..8, "write `and`"),
        ("nottrue", 0..7, "put text in quotes, and write paths with their model, as in `settings:a.b`"),
        ("5 #c", 2..3, "remove it"),
        ("true ?", 5..6, "it may only follow a path"),
        ("settings:", 0..9, "separate keys by single dots, as in `settings:storage.ceph.value`"),
        ("settings:a..b", 0..13, "separate keys by single dots, as in `settings:storage.ceph.value`"),
        ("'abc", 0..4, "end the text with ' on the same line; there are no escapes"),
        ("true false", 5..10, "join values with `and`, `or`, `==`, `!=` or `in`"),
        ("and true", 0..3, "values are paths, numbers, text in quotes, `true`, `false`, `null`"),
        ("true ==", 7..7, "add a value"),
        ("true)", 4..5, "remove it"),
        ("()", 1..2, "remove it"),
        (
            "99999999999999999999",
            0..20,
            "numbers must be between -9223372036854775808 and 9223372036854775807",
        ),
    ] {
        let error = Condition::parse(text).expect_err(text);
        assert_eq!((error.code, error.span.clone()), (codes::SYNTAX, span), "{text}: {error}");
        assert_eq!(error.help.as_deref(), Some(help), "{text}");
        assert!(error.is_syntax());
    }
    let error = Condition::parse("(true").unwrap_err();
    assert_eq!((error.span, error.message), (0..1, "unclosed parenthesis".to_owned()));
}

#[test]
fn evaluation_errors_have_messages() {
    let message = |text: &str, dialect: Dialect| evaluate(text, dialect).unwrap_err().1;
    assert_eq!(message("nowhere:x", Dialect::Task), "unknown model `nowhere`");
    assert_eq!(message("settings:storage.zz.a", Dialect::RESTRICTION), "`settings:storage` has no key `zz`");
    assert_eq!(
        message("settings:storage.n.a", Dialect::Task),
        "`settings:storage.n` is a number, which has no key `a`"
    );
    assert_eq!(message("1 in null", Dialect::Task), "`in` cannot search for a number in null");
}
