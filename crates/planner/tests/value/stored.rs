//! Stored plans are read back exactly.

use stoker_planner::{ExplainedPlan, decode, encode};

use crate::plans::{mixed, real_plans, with_mixed_input};

fn check(name: &str, explained: &ExplainedPlan) {
    let bytes = encode(explained);
    let read = decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read, *explained, "{name}");
    assert!(read.plan.edges().eq(explained.plan.edges()), "{name}");
    assert_eq!(encode(&read), bytes, "{name}");
}

#[test]
fn plans_are_read_back_exactly() {
    for (name, explained) in real_plans() {
        check(&name, &explained);
    }
    for n_nodes in [0, 1, 2, 50] {
        let explained = mixed(n_nodes);
        assert!(!explained.problems.is_empty(), "some warnings are among it");
        check("mixed", &explained);
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
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
fn a_plan_grows_with_what_differs_and_not_with_the_nodes() {
    let explained = mixed(1_000);
    assert_eq!(explained.plan.n_instances(), 8 * 1_000 + 1);
    let len = encode(&explained).len();
    // A thousand reasons and parameters that tell addresses and names apart.
    assert!(len < 40_000, "{len} bytes");
}
