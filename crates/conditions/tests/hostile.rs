//! No input makes the crate panic or overflow the stack.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_conditions::{Condition, ConditionError, Dialect, codes, rewrite_for_deployment};

const DIALECTS: [Dialect; 4] =
    [Dialect::Task, Dialect::RESTRICTION, Dialect::LENIENT_RESTRICTION, Dialect::LEGACY_WIZARD];

fn exercise(text: &str) {
    let model = json!({"a": {"b": [1, "x", null], "value": true}, "c": "text"});
    let check = |error: &ConditionError| {
        assert!(text.get(error.span.clone()).is_some(), "{text:?}: {error:?}");
        assert!(error.code.starts_with("condition-"), "{error:?}");
    };
    for dialect in DIALECTS {
        match Condition::parse_as(text, dialect) {
            Err(error) => check(&error),
            Ok(condition) => {
                let mut spans = condition.warnings().into_iter().filter_map(|warning| warning.location.span);
                assert!(spans.all(|span| text.get(span.bytes()).is_some()));
                let lookup = |name: &str| (name != "m").then_some(&model);
                let value = condition.evaluate(&lookup);
                assert_eq!(value, condition.evaluate(&lookup), "evaluation is deterministic");
                match value {
                    Err(error) => check(&error),
                    Ok(_) => assert!(
                        text.get(condition.decide(&lookup).map_or(0..0, |decision| decision.span)).is_some()
                    ),
                }
            }
        }
    }
    let rewritten = rewrite_for_deployment(text);
    if Condition::parse(text).is_ok() {
        assert!(Condition::parse(&rewritten).is_ok(), "{text:?} became {rewritten:?}");
    }
}

#[test]
fn depth_is_bounded() {
    for (open, close) in [("(", ")"), ("not ", ""), ("not (", ")"), ("true == (", ")")] {
        let text = format!("{}true{}", open.repeat(3000), close.repeat(3000));
        let error = Condition::parse(&text).unwrap_err();
        assert_eq!(error.code, codes::LIMIT, "{open}");
    }
    let text = format!("{}true{}", "(".repeat(60), ")".repeat(60));
    assert!(Condition::parse(&text).is_ok());
}

#[test]
fn length_is_bounded_and_long_chains_do_not_recurse() {
    let chain = |operator: &str| vec!["1"; 2000].join(operator);
    for operator in [" or ", " and ", "==", "!="] {
        let condition = Condition::parse(&chain(operator)).unwrap();
        condition.evaluate(&|_: &str| None).unwrap();
    }
    let error = Condition::parse(&"x".repeat(20_000)).unwrap_err();
    assert_eq!((error.code, error.is_syntax()), (codes::LIMIT, true));
}

fn expressions() -> impl Strategy<Value = String> {
    let atoms = prop_oneof![
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("'x'".to_owned()),
        any::<i16>().prop_map(|number| number.to_string()),
        "[mno]:[abc](\\.[abc]){0,2}",
        Just("settings:common.a.value".to_owned()),
    ];
    atoms.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("not {inner}")),
            inner.clone().prop_map(|inner| format!("({inner})")),
            (inner.clone(), prop::sample::select(vec!["and", "or", "==", "!=", "in"]), inner)
                .prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        exercise(&text);
    }

    #[test]
    fn random_tokens_never_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "and", "or", "not", "in", "==", "!=", "(", ")", "settings:a.b", "m:a", "'x'", "\"", "5", "-", "1.5",
                "?", ".", ":", "äöü", "a-b.c", " ", "=", "true", "null", "\n",
            ]),
            0..30,
        )
    ) {
        exercise(&words.concat());
        exercise(&words.join(" "));
    }

    #[test]
    fn grammatical_text_is_parsed(text in expressions()) {
        prop_assert!(Condition::parse(&text).is_ok(), "{}", text);
        exercise(&text);
        let doubled = format!("({text}) and ({text})");
        let model = json!({"a": 1});
        let lookup = |name: &str| (name != "o").then_some(&model);
        let value = |text: &str| -> Option<Json> { Condition::parse(text).ok()?.evaluate(&lookup).ok() };
        prop_assert_eq!(value(&text), value(&doubled));
    }
}
