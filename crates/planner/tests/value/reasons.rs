//! Explanations of a whole plan equal those of its single instances.

use stoker_model::InstanceIdx;
use stoker_planner::{EvaluationSettings, Explainer, PlanningInput};

use crate::plans::{explained, mixed, with_mixed_input, with_real_inputs};

fn check(name: &str, input: &PlanningInput<'_>) {
    let explained = explained(input);
    let options = Explainer::options(input);
    let explainer = Explainer::new(input, &explained.plan, &options);
    for instance in explained.plan.instances() {
        let explanation = explained.reasons.of(instance.idx);
        assert_eq!(explanation, Some(&explainer.explain(&instance)), "{name}: {instance}");
    }
    assert_eq!(explained.reasons.of(InstanceIdx::at(explained.plan.n_instances())), None);
}

#[test]
fn shared_explanations_equal_single_explanations() {
    with_real_inputs(check);
    with_mixed_input(7, |input| check("mixed", input));
    let many = EvaluationSettings { n_threads: 3, ..EvaluationSettings::default() };
    with_mixed_input(7, |input| check("threads", &PlanningInput { settings: many, ..input.clone() }));
}

#[test]
fn own_data_is_shown_and_secrets_are_masked() {
    let explained = mixed(3);
    let explanations: Vec<String> = explained
        .plan
        .instances()
        .filter(|instance| instance.task == "address")
        .filter_map(|instance| Some(format!("{instance}: {}", explained.reasons.of(instance.idx)?)))
        .collect();
    let expected = [
        "address@1: `$.address` is new: the task has never succeeded on this node",
        "address@2: `$.address` has changed: address.ip changed from \"10.1.0.1\" to \"10.2.0.1\"",
        "address@3: `$.address` has changed: address.ip changed from \"10.1.0.2\" to \"10.2.0.2\"",
    ];
    assert_eq!(explanations, expected);
}

#[test]
fn equal_explanations_are_deduplicated() {
    let (few, many) = (mixed(3), mixed(300));
    // Only explanations that show an address grow with the nodes: of the address itself, and of the whole
    // document.
    let n_constant = |plan: &stoker_planner::ExplainedPlan| {
        plan.reasons.explanations().iter().filter(|reason| reason.differences.is_empty()).count()
    };
    assert_eq!(n_constant(&few), n_constant(&many));
    assert_eq!(many.reasons.explanations().len() - n_constant(&many), 2 * 299);
}
