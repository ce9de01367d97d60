//! Encoded plans round-trip exactly.

use stoker_diagnostics::{ProblemOrigin, Severity};
use stoker_planner::{ExplainedPlan, codes, decode, encode};

use crate::plans::{mixed, real_plans, with_mixed_input};

fn check(name: &str, explained: &ExplainedPlan) {
    let bytes = encode(explained);
    let read = decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read, *explained, "{name}");
    assert!(read.plan.edges().eq(explained.plan.edges()), "{name}");
    assert_eq!(encode(&read), bytes, "{name}");
}

#[test]
fn plans_round_trip() {
    for (name, explained) in real_plans() {
        check(&name, &explained);
    }
    for n_nodes in [0, 1, 2, 50] {
        let explained = mixed(n_nodes);
        assert!(!explained.problems.is_empty(), "the plan has warnings");
        check("mixed", &explained);
    }
}

#[test]
fn encoding_is_independent_of_threads() {
    let mut bytes = Vec::new();
    for n_threads in [1, 4] {
        with_mixed_input(40, |input| {
            let mut input = input.clone();
            input.settings.n_threads = n_threads;
            bytes.push(encode(&crate::plans::explained(&input)));
        });
    }
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn encoded_size_grows_with_differences_not_nodes() {
    let explained = mixed(1_000);
    assert_eq!(explained.plan.n_instances(), 8 * 1_000 + 1);
    let len = encode(&explained).len();
    // A thousand distinct reasons and parameters, because addresses and names differ per node.
    assert!(len < 45_000, "{len} bytes");
}

/// `mixed(2)` with a second warning, encoded before warnings became diagnostics.
const STORED_V1: &[u8] = include_bytes!("stored-plan-v1.zlib");

#[test]
fn plans_of_earlier_versions_decode() {
    let explained = decode(STORED_V1).unwrap();
    let texts: Vec<String> = explained.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "task `after`, cross_depends[1]: task `nowhere` does not exist, so the dependency has no effect",
            "task `a`, condition, on nodes 1, 2: there is no key 'rolse' in `rolse` (did you mean `roles`?)",
        ]
    );
    let [unknown_name, condition] = &explained.problems[..] else { panic!("{texts:?}") };
    assert_eq!((&*unknown_name.code, &*condition.code), (codes::UNKNOWN_NAME, codes::CONDITION));
    assert!(explained.problems.iter().all(|problem| problem.severity == Severity::Warning));
    let provenance = ProblemOrigin {
        layer: Some("plugin fake 1.0.0".to_owned()),
        file: Some("tasks.yaml".to_owned()),
        line: Some(12),
    };
    assert_eq!(condition.location.provenance, Some(provenance));
    assert_eq!(explained.plan, mixed(2).plan);
    assert_eq!(encode(&explained), STORED_V1, "servers of the earlier version can read new plans");
}
