//! Real plans pass the check, and what users get wrong is told when planning.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_planner::{check, codes, decode, encode};

use crate::estimate::any_plan;
use crate::plans::{mixed, real_plans};
use crate::small::{input, node, refused, shell};

#[test]
fn plans_pass_before_and_after_they_are_stored() {
    for (name, explained) in real_plans() {
        assert_eq!(check(&explained.plan), [], "{name}");
        assert_eq!(check(&decode(&encode(&explained)).expect("a plan").plan), [], "{name}");
    }
    for n_nodes in [0, 1, 30] {
        assert_eq!(check(&mixed(n_nodes).plan), []);
    }
}

fn check_refused(fields: Json, code: &str, expected: &str) {
    let tasks = [shell("a", fields)];
    let report = refused(&input(&tasks, &json!({}), &[node("1", &[], json!({}))]));
    let problem = report.errors().next().expect("an error");
    assert_eq!(problem.code, code);
    assert!(problem.to_string().contains(expected), "{problem}");
}

#[test]
fn what_the_check_would_find_is_refused_if_a_user_wrote_it() {
    let computed = json!({"type": {"yaql_exp": "concat(pop, pet)"}});
    check_refused(computed, codes::UNKNOWN_TYPE, "`poppet` is no type of task");
    let strategy = json!({"parameters": {"strategy": {"type": "parallel", "amount": {"yaql_exp": "0 - 1"}}}});
    check_refused(strategy, codes::STRATEGY, "and not -1");
    let mut deep = json!("x");
    for _ in 0..80 {
        deep = json!([deep]);
    }
    check_refused(json!({"parameters": {"deep": deep}}), codes::FIELD, "nested more than 64 levels");
}

proptest! {
    #[test]
    fn every_plan_passes((plan, _) in any_plan()) {
        prop_assert_eq!(check(&plan), []);
    }
}
