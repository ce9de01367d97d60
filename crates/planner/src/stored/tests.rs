//! Decoding of corrupt and hostile input.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::columns::{pack, unpack};
use super::*;
use crate::input::NodeInput;

/// Small bounds, so that any violation stays cheap.
const SMALL: Bounds = Bounds { bytes: 1 << 16, vertices: 1_000, edges: 2_000 };

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A valid document: three tasks on four nodes, with a junction vertex.
fn document() -> Json {
    let task = |name: &str, more: Json| {
        let mut fields = json!({"type": "shell", "roles": "*", "parameters": {"cmd": "true"}});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stoker_model::Task { name: name.to_owned(), fields: fields.as_object().unwrap().clone() }
    };
    let tasks = [
        task("a", json!({"parameters": {"uid": {"yaql_exp": "$node.uid"}}})),
        task("b", json!({"cross_depends": [{"name": "a", "role": "*"}]})),
        task("c", json!({"requires": ["a", "missing"], "type": "skipped"})),
    ];
    let node = |number: u32| NodeInput {
        uid: number.to_string(),
        document: stoker_state::Document::new(
            &stoker_yaql::json::parse(&json!({"uid": number}).to_string()).unwrap(),
        ),
        ..NodeInput::default()
    };
    let input = PlanningInput::new(&tasks, stoker_state::Document::default(), (1..5).map(node).collect());
    let (plan, report) = crate::plan(&input).unwrap();
    let explained = ExplainedPlan::new(&input, plan, report);
    serde_json::to_value(Document::of(&explained)).unwrap()
}

fn decoded(document: &Json) -> Result<ExplainedPlan, DecodeError> {
    decode_within(&compressed(document.to_string().as_bytes()), &SMALL)
}

fn assert_corrupt(pointer: &str, value: &Json, expected: &str) {
    let mut document = document();
    *document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value.clone();
    let error = decoded(&document).expect_err(pointer).to_string();
    assert!(error.contains(expected), "{pointer}: {error}");
}

#[test]
fn each_corruption_is_reported() {
    decoded(&document()).expect("the unmodified document is valid");
    assert_corrupt("/version", &json!(2), "has format version 2");
    assert_corrupt("/version", &json!("1"), "cannot decode");
    assert_corrupt("/node_sets", &json!([]), "unknown set of nodes");
    assert_corrupt("/node_sets/0", &json!([0, 0, 2]), "not sorted or out of range");
    assert_corrupt("/node_sets/0", &json!([9, 1, 2]), "not sorted or out of range");
    assert_corrupt("/node_sets/0", &json!([0, 1]), "truncated");
    assert_corrupt("/verdicts", &json!([0, 0, 11]), "too short");
    assert_corrupt("/verdicts", &json!([0, 0, 13]), "too long");
    assert_corrupt("/verdicts", &json!([0, 0, -1]), "negative length");
    assert_corrupt("/verdicts", &json!([99, 0, 12]), "unknown verdict");
    assert_corrupt("/details", &json!([9, 0, 12]), "missing details");
    assert_corrupt("/details", &json!([i64::MAX, i64::MAX, 12]), "out of range");
    assert_corrupt("/order/n_vertices", &json!(11), "invalid number of vertices");
    assert_corrupt("/order/n_vertices", &json!(1_001), "invalid number of vertices");
    assert_corrupt("/order/rows", &json!([]), "truncated");
    assert_corrupt("/order/rows", &json!([0, 0]), "invalid number of rows");
    assert_corrupt("/order/rows", &json!([13, 0, 1]), "truncated");
    assert_corrupt("/order/rows", &json!([1, 1, 0, 3_000]), "too many edges");
    assert_corrupt("/order/rows", &json!([1, 1, 99, 1]), "target out of range");
    assert_corrupt("/order/rows", &json!([13, 1, 12, 0]), "target out of range");
    assert_corrupt("/reasons", &json!([9, 0, 12]), "no reason");
    assert_corrupt("/problems/0/code", &json!("news"), "unknown problem code");
    assert_corrupt("/tasks/0/details/0", &json!({"task_type": "x"}), "cannot decode");
}

#[test]
fn legacy_reason_of_offline_nodes_is_translated() {
    let mut document = document();
    document["excluded"] = json!([{"uid": "7", "why": "it is not online"}, {"uid": "8", "why": "other"}]);
    let excluded = decoded(&document).unwrap().excluded;
    let reasons: Vec<&str> = excluded.iter().map(|node| node.reason.as_str()).collect();
    assert_eq!(reasons, [crate::NODE_OFFLINE, "other"]);
}

#[test]
fn oversized_and_truncated_input_is_rejected() {
    let check = |bytes: &[u8], expected: &str| {
        let error = decode_within(bytes, &SMALL).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&compressed(&vec![b' '; 1 << 20]), "larger than 65536 bytes");
    check(&compressed("[".repeat(50_000).as_bytes()), "cannot decode");
    check(b"", "cannot decode");
    check(b"{}", "cannot decode");
    check(&compressed(b"{}"), "cannot decode");
    let mut document = document();
    document["nodes"] = json!(vec!["n"; 400]);
    document["node_sets"] = json!(vec![[0, 1, 400]; 3]);
    check(&compressed(document.to_string().as_bytes()), "too long");
    document["node_sets"] = json!([[0, 1, 400]]);
    check(&compressed(document.to_string().as_bytes()), "too many instances");
    let valid = compressed(self::document().to_string().as_bytes());
    for len in 0..valid.len() {
        decode_within(&valid[..len], &SMALL).expect_err("the input is truncated");
    }
}

/// Accesses everything in a plan: an index out of range would panic.
fn use_everything(explained: &ExplainedPlan) {
    for instance in explained.plan.instances() {
        explained.plan.details(instance.idx);
        assert!(explained.reasons.of(instance.idx).is_some());
        assert_eq!(explained.plan.instance(instance.idx), Some(instance));
    }
    let n_instances = explained.plan.n_instances() as u32;
    assert!(explained.plan.edges().all(|(from, to)| from.get() < n_instances && to.get() < n_instances));
}

proptest! {
    #[test]
    fn columns_round_trip(values in prop::collection::vec(prop_oneof![0..4_u32, any::<u32>()], 0..60)) {
        let runs = pack(values.iter().copied());
        prop_assert_eq!(unpack(&runs, values.len()).unwrap(), values);
    }

    #[test]
    fn orders_round_trip(
        edges in prop::collection::vec((0..30_u32, 0..40_u32), 0..200),
        sets in prop::collection::vec((30..40_u32, 0..30_u32), 0..40),
    ) {
        let order = stoker_graph::Csr::new(40, edges.into_iter().chain(sets).collect());
        let read = super::order::Order::of(&order).into_csr(30, &SMALL).unwrap();
        prop_assert_eq!(read, order);
    }

    /// Replaces numbers of a valid document; a plan that still decodes must be safe to use.
    #[test]
    fn decoded_plans_are_safe_to_use(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![-2..20_i64, any::<i64>()]), 1..4),
    ) {
        let mut text = document().to_string();
        for (at, number) in changes {
            let ranges: Vec<(usize, usize)> = numbers(&text);
            let (start, end) = *at.get(&ranges);
            text.replace_range(start..end, &number.to_string());
        }
        if let Ok(explained) = decode_within(&compressed(text.as_bytes()), &SMALL) {
            use_everything(&explained);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), is_compressed: bool) {
        let bytes = if is_compressed { compressed(&bytes) } else { bytes };
        prop_assert!(decode_within(&bytes, &SMALL).is_err());
    }
}

/// Byte ranges of the numbers in a text.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit() || *byte == b'-') {
        match ranges.last_mut() {
            Some((_, end)) if *end == at && byte != b'-' => *end = at + 1,
            _ => ranges.push((at, at + 1)),
        }
    }
    ranges
}
