use proptest::prelude::*;
use stoker_model::{Json, NodeStatus};
use stoker_yaml::Node;

use super::*;
use crate::{Format, parse};

/// Returns the result of a reader for a YAML text, with the problems that it reports.
fn read<T: std::fmt::Debug>(text: &str, read: impl Fn(&Node, &mut Diagnostics) -> Option<T>) -> String {
    let node = parse(text, Format::Yaml).unwrap();
    let mut problems = Diagnostics::default();
    let value = read(&node, &mut problems);
    assert_eq!(value.is_none(), problems.has_errors(), "{text}");
    let mut lines: Vec<String> = value.iter().map(|value| format!("{value:?}")).collect();
    lines.extend(problems.into_vec().iter().map(ToString::to_string));
    lines.join("\n")
}

#[test]
fn strings_are_read() {
    assert_eq!(read("a b", string), "\"a b\"");
    assert_eq!(read("''", string), "\"\"");
    assert_eq!(read("12", string), "must be text, got an integer (line 1, column 1; put it in quotes)");
    assert_eq!(read("~", string), "must be text, got null (line 1, column 1)");
    assert_eq!(read("[a]", string), "must be text, got a list (line 1, column 1)");
    assert_eq!(read("äää", string_with_length(1..=3)), "\"äää\"");
    assert_eq!(
        read("aaaa", string_with_length(1..=3)),
        "must have 1 to 3 characters, got 4 (line 1, column 1)"
    );
}

#[test]
fn integers_and_booleans_are_read() {
    assert_eq!(read("-5", integer), "-5");
    assert_eq!(read("'5'", integer), "must be an integer, got text (line 1, column 1; remove the quotes)");
    assert_eq!(read("5.0", integer), "must be an integer, got a float (line 1, column 1)");
    assert_eq!(read("true", integer), "must be an integer, got a boolean (line 1, column 1)");
    assert_eq!(
        read("99999999999999999999", integer),
        "must be at most 9223372036854775807 (line 1, column 1)"
    );
    assert_eq!(read("9", integer_in(0..=9)), "9");
    assert_eq!(read("10", integer_in(0..=9)), "must be 0 to 9, got 10 (line 1, column 1)");
    assert_eq!(read("0", identifier), "must be at least 1, got 0 (line 1, column 1)");
    assert_eq!(read("yes", boolean), "true");
    assert_eq!(
        read("'true'", boolean),
        "must be true or false, got text (line 1, column 1; remove the quotes)"
    );
    assert_eq!(read("1", boolean), "must be true or false, got an integer (line 1, column 1)");
}

#[test]
fn words_are_read() {
    let status = || enum_of(NodeStatus::NAMES, NodeStatus::parse);
    assert_eq!(read("ready", status()), "Ready");
    assert_eq!(
        read("raedy", status()),
        "must be `ready`, `discover`, `provisioning`, `provisioned`, `deploying`, `error`, `removing` or `stopped`, \
         got `raedy` (line 1, column 1; did you mean `ready`?)"
    );
    assert!(read("[ready]", status()).starts_with("must be text"));
}

#[test]
fn lists_and_maps_report_all_items() {
    assert_eq!(read("[1, 2]", list_of(integer)), "[1, 2]");
    assert_eq!(
        read("[1, a, 2, b]", list_of(integer)),
        "[1]: must be an integer, got text (line 1, column 5)\n[3]: must be an integer, got text (line 1, column 11)"
    );
    assert_eq!(
        read("a", list_of(string)),
        "must be a list, got text (line 1, column 1; write a list, even for a single item)"
    );
    assert_eq!(read("{b: 1, a: ~}", map_of(nullable(integer))), "[(\"b\", Some(1)), (\"a\", None)]");
    assert_eq!(
        read("{1: 1, a: x}", map_of(integer)),
        "a key must be text, `1` is an integer (line 1, column 2; put it in quotes)\na: must be an integer, got text (line 1, column 11)"
    );
}

#[test]
fn json_values_are_read() {
    assert_eq!(
        read("{a: [1, 2.5, ~, true, x], since: 2016-01-02, big: 18446744073709551615}", json),
        format!(
            "{:?}",
            serde_json::json!({"a": [1, 2.5, null, true, "x"], "since": "2016-01-02", "big": u64::MAX})
        )
    );
    assert_eq!(
        read("{a: .inf, b: [18446744073709551616], 1: x}", json),
        "a: `.inf` cannot be represented as a JSON number (line 1, column 5; put it in quotes if it is text)
b[0]: an integer must be between -9223372036854775808 and 18446744073709551615 (line 1, column 15; put it in quotes if it is text)
a key must be text, `1` is an integer (line 1, column 38; put it in quotes)"
    );
    assert!(read("[1]", json_map).starts_with("must be a map, got a list"));
}

fn node_body(fields: &mut Fields<'_, '_>) -> Option<(String, FieldUpdate<i64>, Option<bool>)> {
    let name = fields.required("name", string);
    let group = fields.update("group_id", identifier);
    let online = fields.optional("online", boolean);
    fields.ignore(&["id"]);
    Some((name?, group, online))
}

#[test]
fn absent_null_and_value_are_distinguished() {
    assert_eq!(read("{name: a}", object(node_body)), "(\"a\", Absent, None)");
    assert_eq!(read("{name: a, group_id: ~}", object(node_body)), "(\"a\", Null, None)");
    assert_eq!(
        read("{id: 4, name: a, group_id: 3, online: no}", object(node_body)),
        "(\"a\", Value(3), Some(false))"
    );
    let mut old = Some(1);
    FieldUpdate::Absent.apply(&mut old);
    assert_eq!(old, Some(1));
    FieldUpdate::Value(2).apply(&mut old);
    assert_eq!(old, Some(2));
    FieldUpdate::Null.apply(&mut old);
    assert_eq!(old, None);
}

#[test]
fn all_problems_of_a_map_are_reported() {
    assert_eq!(
        read("{nane: a, group_id: x, online: 1, zzz: 2, 3: 4}", object(node_body)),
        "name: `name` is missing (line 1, column 2)
nane: unknown key `nane` (line 1, column 2; did you mean `name`?)
group_id: must be an integer, got text (line 1, column 21)
online: must be true or false, got an integer (line 1, column 32)
zzz: unknown key `zzz` (line 1, column 35; known keys: name, group_id, online, id)
a key must be text, `3` is an integer (line 1, column 43; put it in quotes)"
    );
    assert_eq!(read("[]", object(node_body)), "must be a map, got a list (line 1, column 1)");
}

#[test]
fn open_map_returns_remaining_keys() {
    let node = parse("{a: 1, b: 2, c: 3}", Format::Yaml).unwrap();
    let mut problems = Diagnostics::default();
    let mut fields = Fields::new(&node, &mut problems).unwrap();
    fields.ignore(&["b"]);
    assert_eq!(fields.remaining().iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["a", "c"]);
    fields.finish();
    assert!(!problems.has_errors());
}

fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-1.0e9..1.0e9).prop_map(|number: f64| Json::from((number * 8.0).round() / 8.0)),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec(("[a-z]{0,4}", inner), 0..6)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_round_trips(value in values()) {
        let node = parse(&value.to_string(), Format::Json).unwrap();
        let mut problems = Diagnostics::default();
        prop_assert_eq!(json(&node, &mut problems), Some(value));
        prop_assert!(!problems.has_errors());
    }
}
