//! Real plans pass the self-check, and user errors are reported during planning.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_planner::{check, codes, decode, encode};

use crate::estimate::any_plan;
use crate::plans::{mixed, real_plans};
use crate::small::{input, node, refused, shell};

#[test]
fn plans_pass_before_and_after_encoding() {
    for (name, explained) in real_plans() {
        assert_eq!(check(&explained.plan), [], "{name}");
        assert_eq!(check(&decode(&encode(&explained)).expect("a plan").plan), [], "{name}");
    }
    for n_nodes in [0, 1, 30] {
        assert_eq!(check(&mixed(n_nodes).plan), []);
    }
}

fn assert_rejected(fields: Json, code: &str, expected: &str) {
    let tasks = [shell("a", fields)];
    let report = refused(&input(&tasks, &json!({}), &[node("1", &[], json!({}))]));
    let problem = report.errors().next().expect("an error");
    assert_eq!(problem.code, code);
    assert!(problem.to_string().contains(expected), "{problem}");
}

#[test]
fn invalid_user_input_is_rejected_during_planning() {
    let computed = json!({"type": {"yaql_exp": "concat(pop, pet)"}});
    assert_rejected(computed, codes::UNKNOWN_TYPE, "unknown task type `poppet`");
    let strategy = json!({"parameters": {"strategy": {"type": "parallel", "amount": {"yaql_exp": "0 - 1"}}}});
    assert_rejected(strategy, codes::STRATEGY, "not -1");
    let mut deep = json!("x");
    for _ in 0..80 {
        deep = json!([deep]);
    }
    assert_rejected(json!({"parameters": {"deep": deep}}), codes::FIELD, "nested more than 64 levels");
}

proptest! {
    #[test]
    fn arbitrary_plans_pass((plan, _) in any_plan()) {
        prop_assert_eq!(check(&plan), []);
    }
}
