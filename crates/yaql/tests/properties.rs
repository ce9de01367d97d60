//! Properties that hold for all expressions and values.

#![expect(clippy::disallowed_methods, reason = "measures the duration of evaluations")]

#[path = "differential/calls.rs"]
mod calls;
#[path = "differential/case.rs"]
mod case;
#[path = "differential/focus.rs"]
mod focus;
#[path = "differential/generate.rs"]
mod generate;
#[path = "differential/literals.rs"]
mod literals;
#[path = "differential/mutate.rs"]
mod mutate;
#[path = "differential/rng.rs"]
mod rng;
#[path = "differential/table.rs"]
mod table;
#[path = "differential/tree.rs"]
mod tree;
#[path = "differential/types.rs"]
mod types;

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use stoker_yaql::json::{InputStyle, WriteOptions, decode, parse as parse_json, write};
use stoker_yaql::protocol::Responder;
use stoker_yaql::stdlib::Legacy;
use stoker_yaql::syntax::{ArgNode, ArgRange, Grammar, Node, NodeId, Tree, parse};
use stoker_yaql::value::{Key, Map, MapView, Set};
use stoker_yaql::{Engine, ErrorClass, FixedHost, Input, Limits, Options, Value};

use case::{Case, Tables};
use table::Table;

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    standard: Table::new(),
    delegates: Table::of_dialect(&Engine::with_dialect(true, Legacy::Off)),
    legacy: Table::of_dialect(&Engine::with_dialect(true, Legacy::Full)),
});

fn random_case(seed: u64) -> Case {
    case::generate(seed, 0, &TABLES)
}

const GRAMMARS: [Grammar; 4] = [
    Grammar { delegates: false, legacy: false },
    Grammar { delegates: true, legacy: false },
    Grammar { delegates: false, legacy: true },
    Grammar { delegates: true, legacy: true },
];

/// Formats a tree in full, with all properties that affect its meaning.
fn shape(tree: &Tree, id: NodeId) -> String {
    let kid = |id: &NodeId| shape(tree, *id);
    match tree.node(id) {
        Node::Const(index) => format!("const {:?}", tree.constant(*index)),
        Node::Keyword(word) => format!("word {:?}", tree.constant(*word)),
        Node::Dollar => "$".to_owned(),
        Node::Var(name) => format!("var {:?}", tree.name(*name)),
        Node::Paren(inner) => format!("paren({})", kid(inner)),
        Node::List(args) => format!("list{}", shapes(tree, *args)),
        Node::Map(args) => format!("map{}", shapes(tree, *args)),
        Node::Index { receiver, args, .. } => format!("index({}){}", kid(receiver), shapes(tree, *args)),
        Node::Unary(op, operand) => format!("{op:?}({})", kid(operand)),
        Node::Binary(op, left, right) => format!("{op:?}({}, {})", kid(left), kid(right)),
        Node::Member { receiver, key, safe, .. } => {
            format!("member({}, {}, {safe})", kid(receiver), tree.text(*key))
        }
        Node::Method { receiver, name, args, safe, .. } => {
            format!("method({}, {}, {safe}){}", kid(receiver), tree.text(*name), shapes(tree, *args))
        }
        Node::BadDot { receiver, right, safe } => format!("dot({}, {}, {safe})", kid(receiver), kid(right)),
        Node::Call { name, args, .. } => format!("call {}{}", tree.text(*name), shapes(tree, *args)),
        Node::Invoke { callee, args, .. } => format!("invoke({}){}", kid(callee), shapes(tree, *args)),
    }
}

fn shapes(tree: &Tree, args: ArgRange) -> String {
    let slots = tree.arg_slice(args).iter().map(|slot| match slot {
        ArgNode::Omitted => "-".to_owned(),
        ArgNode::Positional(node) => shape(tree, *node),
        ArgNode::Pair(key, value) => format!("{} => {}", shape(tree, *key), shape(tree, *value)),
    });
    format!("[{}]", slots.collect::<Vec<_>>().join(", "))
}

/// Checks that printing and parsing are inverse, if the text parses.
fn check_printing(text: &str) {
    for grammar in GRAMMARS {
        let Ok(tree) = parse(text, grammar) else { continue };
        let printed = tree.to_string();
        let again = parse(&printed, grammar);
        let again = again.unwrap_or_else(|error| panic!("{text:?} prints as {printed:?}: {error}"));
        assert_eq!(shape(&tree, tree.root), shape(&again, again.root), "{text:?} prints as {printed:?}");
        assert_eq!(printed, again.to_string());
    }
}

/// Generates values from a small set of scalars, so that duplicates are frequent.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-2_i64..3).prop_map(Value::Int),
        (-4_i32..6).prop_map(|half| Value::Float(f64::from(half) / 2.0)),
        Just(Value::Float(18_446_744_073_709_551_616.0)),
        Just(Value::int(num_bigint::BigInt::from(1) << 64)),
        Just(Value::Float(f64::INFINITY)),
        "[ab1]{0,2}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 24, 3, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        let pairs = prop::collection::vec((inner.clone(), inner), 0..4);
        prop_oneof![
            items.clone().prop_map(Value::tuple),
            items.clone().prop_map(Value::list),
            pairs.clone().prop_map(|pairs| Value::frozen_dict(map_of(pairs))),
            pairs.clone().prop_map(|pairs| Value::dict(map_of(pairs))),
            items.prop_map(|items| Value::set(Set::from_keys(keys_of(items)))),
            (pairs.clone(), any::<bool>()).prop_map(|(pairs, frozen)| Value::Keys(view_of(pairs, frozen))),
            (pairs, any::<bool>()).prop_map(|(pairs, frozen)| Value::Items(view_of(pairs, frozen))),
        ]
    })
}

fn keys_of(items: Vec<Value>) -> Vec<Key> {
    items.into_iter().filter_map(|item| Key::new(item).ok()).collect()
}

fn map_of(pairs: Vec<(Value, Value)>) -> Map {
    let mut builder = Map::builder();
    for (key, value) in pairs {
        // Unhashable keys are omitted.
        _ = builder.insert(key, value);
    }
    builder.build()
}

fn view_of(pairs: Vec<(Value, Value)>, frozen: bool) -> MapView {
    MapView { map: Arc::new(map_of(pairs)), frozen }
}

/// Returns an equal value with another representation: `1.0` for `1`, maps in reverse order.
fn with_other_representation(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => Value::Int(i64::from(*flag)),
        Value::Int(number) => Value::Float(*number as f64),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9.0 => Value::Int(*number as i64),
        Value::Tuple(seq) => Value::tuple(seq.iter().map(with_other_representation).collect()),
        Value::List(seq) => Value::list(seq.iter().map(with_other_representation).collect()),
        Value::FrozenDict(map) => Value::dict(reversed(map)),
        Value::Dict(map) => Value::frozen_dict(reversed(map)),
        Value::Set(set) => {
            let keys = set.iter().cloned().map(|key| (key, Value::Null)).rev_pairs();
            Value::Keys(view_of(keys, true))
        }
        Value::Keys(view) => {
            let keys: Vec<Value> = view.map.iter().map(|(key, _)| key.clone()).collect();
            Value::set(Set::from_keys(keys_of(keys)))
        }
        other => other.clone(),
    }
}

trait RevPairs: Iterator<Item = (Value, Value)> + Sized {
    fn rev_pairs(self) -> Vec<(Value, Value)> {
        let mut pairs: Vec<(Value, Value)> = self.collect();
        pairs.reverse();
        pairs
    }
}

impl<I: Iterator<Item = (Value, Value)>> RevPairs for I {}

fn reversed(map: &Map) -> Map {
    map_of(map.iter().map(|(key, value)| (key.clone(), with_other_representation(value))).rev_pairs())
}

/// Checks that equality, digests and keys agree.
fn check_equality(a: &Value, b: &Value) {
    let equal = a.equals(b);
    assert_eq!(equal, b.equals(a), "symmetry: {a:?} {b:?}");
    assert_eq!(equal, a.digest() == b.digest(), "digests: {a:?} {b:?}");
    if let (Ok(a_key), Ok(b_key)) = (Key::new(a.clone()), Key::new(b.clone())) {
        assert_eq!(equal, a_key == b_key, "keys: {a:?} {b:?}");
        let is_element = Set::from_keys([a_key]).contains(&b_key);
        assert_eq!(equal, is_element, "elements: {a:?} {b:?}");
    }
}

fn longest(value: &Value) -> usize {
    match value {
        Value::Tuple(seq) | Value::List(seq) => seq.iter().map(longest).max().unwrap_or(0).max(seq.len()),
        Value::FrozenDict(map) | Value::Dict(map) => {
            map.iter().map(|(_, value)| longest(value)).max().unwrap_or(0).max(map.len())
        }
        _ => 0,
    }
}

/// Ends a case that cannot be evaluated. It counts against `max_global_rejects`.
fn reject(reason: &'static str) -> Result<(), TestCaseError> {
    Err(TestCaseError::reject(reason))
}

proptest! {
    // At least half of the generated cases must be evaluated.
    #![proptest_config(ProptestConfig { max_global_rejects: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_round_trips(seed: u64) {
        check_printing(&random_case(seed).text());
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "[$a-c0-9().,'\"`\\\\\\[\\]{}=<>!?~+*/ \u{e9}\u{3a9}-]{0,40}") {
        check_printing(&text);
    }

    #[test]
    fn limits_are_enforced(
        seed: u64,
        steps in 0_u64..3000,
        depth in 0_u32..60,
        memory in 0_u64..200_000,
        limit in -1_i64..12,
        quota in -1_i64..5000,
    ) {
        let case = random_case(seed);
        let engine = Engine::with_dialect(true, Legacy::Off);
        let Ok(expression) = engine.compile(&case.text()) else { return reject("no expression") };
        let data = parse_json(&case.data.to_string()).expect("the document is JSON");
        let Ok(data) = decode(data, InputStyle::Converted) else { return reject("no document") };
        let limits = Limits { steps, depth, memory };
        let options = Options { limit_iterators: limit, memory_quota: quota, ..Options::default() };
        let started = Instant::now();
        let result = expression.run(Input { data, limits: &limits, options: &options, ..Input::default() });
        prop_assert!(started.elapsed() < Duration::from_secs(30), "{} takes long", case.request());
        if let (Ok(value), Ok(limit)) = (result, usize::try_from(limit)) {
            prop_assert!(longest(&value) <= limit, "{} is not limited to {limit}", case.request());
        }
    }

    #[test]
    fn equality_digests_and_keys_agree(a in value(), b in value()) {
        check_equality(&a, &b);
        check_equality(&a, &a.clone());
        let with_other_representation = with_other_representation(&a);
        prop_assert!(a.equals(&with_other_representation), "{a:?} {with_other_representation:?}");
        check_equality(&a, &with_other_representation);
        check_equality(&with_other_representation, &b);
    }

    #[test]
    fn json_round_trips(value in value(), compact: bool, ascii: bool, indent in prop::option::of(0_usize..4)) {
        let options = WriteOptions { compact, ascii, indent, ..WriteOptions::default() };
        let text = write(&value, &options).expect("a value can be written");
        let read = parse_json(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        if !text.contains("$yaql") {
            prop_assert_eq!(write(&read, &options).expect("it can be written again"), text);
        }
        // Views are read back as sets, and sets of containers cannot be represented in requests.
        if let Ok(decoded) = decode(read, InputStyle::Converted) {
            let again = write(&decoded, &options).expect("it can be written again");
            let reread = decode(parse_json(&again).expect("it is JSON"), InputStyle::Converted);
            prop_assert!(reread.is_ok_and(|reread| reread.equals(&decoded)), "{again}");
        }
    }
}

#[test]
fn results_are_deterministic_across_threads() {
    let requests: Vec<String> = (0..300).map(|seed| random_case(seed).request()).collect();
    let answers = || {
        let host = FixedHost { now_micros: 1_700_000_000_000_000, random_bits: 7 };
        let mut responder = Responder::new(&host, Limits { steps: 300_000, ..Limits::default() });
        requests.iter().map(|request| responder.respond(request)).collect::<Vec<_>>()
    };
    let alone = answers();
    std::thread::scope(|scope| {
        for thread in [(); 4].map(|()| scope.spawn(answers)) {
            assert_eq!(thread.join().expect("no panic"), alone);
        }
    });
}

#[test]
fn expression_is_shareable_between_threads() {
    let engine = Engine::default();
    let expression = engine.compile("$.select({n => $, s => str($)}).orderByDescending($.n)").unwrap();
    let data = Value::tuple((0..200).map(Value::Int).collect());
    let alone = write(&expression.evaluate(&data).unwrap(), &WriteOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let value = expression.evaluate(&data).unwrap();
                    assert_eq!(write(&value, &WriteOptions::default()).unwrap(), alone);
                }
            });
        }
    });
}

#[test]
fn interrupted_evaluation_fails() {
    struct Stop;
    impl stoker_yaql::Host for Stop {
        fn now_micros(&self) -> i64 {
            0
        }
        fn random_bits(&self) -> u64 {
            0
        }
        fn is_interrupted(&self) -> bool {
            true
        }
    }
    let expression = Engine::default().compile("sequence().where(false).any()").unwrap();
    let options = Options { limit_iterators: -1, ..Options::default() };
    let error = expression.run(Input { host: &Stop, options: &options, ..Input::default() }).unwrap_err();
    assert_eq!(error.class, ErrorClass::Interrupted);
}
