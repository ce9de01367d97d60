//! Plans as diagrams.

use serde_json::json;
use stoker_pictures::{Appearance, Diagram, Dot, Svg};
use stoker_planner::{Instance, InstanceAction, InstanceFilter, Plan, draw_plan};

use crate::plans::real_plans;
use crate::small::{input, node, planned, shell};

fn looks(instance: &Instance<'_>) -> Appearance {
    if instance.verdict.action() == InstanceAction::Run { Appearance::Pending } else { Appearance::WillSkip }
}

fn edges(drawing: &Diagram) -> Vec<String> {
    let id = |vertex_idx: u32| drawing.vertices[vertex_idx as usize].id.clone();
    drawing.edges.iter().map(|(from, to)| format!("{} -> {}", id(*from), id(*to))).collect()
}

fn chain() -> Plan {
    let tasks = [
        shell("a", json!({})),
        shell("b", json!({"requires": ["a"], "condition": false})),
        shell("c", json!({"cross_depends": [{"name": "b", "role": "*"}]})),
    ];
    planned(&input(&tasks, &json!({}), &[node("1", &[], json!({})), node("2", &[], json!({}))]))
}

#[test]
fn plan_is_drawn_with_all_edges() {
    for (name, explained) in real_plans() {
        let drawing = draw_plan(&explained.plan, &InstanceFilter::default(), &looks).expect("a drawing");
        assert_eq!(drawing.vertices.len(), explained.plan.n_instances(), "{name}");
        assert_eq!(drawing.edges.len(), explained.plan.edges().count(), "{name}");
        assert!(Svg(&drawing).to_string().contains("</svg>"));
    }
    let dot = Dot(&draw_plan(&chain(), &InstanceFilter::default(), &looks).expect("a drawing")).to_string();
    assert!(dot.contains("\"Task[b/2]\" [fillcolor=magenta, style=filled];"), "{dot}");
    assert!(dot.contains("\"Task[b/1]\" -> \"Task[c/2]\";"), "{dot}");
}

#[test]
fn filters_select_instances() {
    let check = |filter: InstanceFilter, expected: &[&str]| {
        assert_eq!(edges(&draw_plan(&chain(), &filter, &looks).expect("a drawing")), expected, "{filter:?}");
    };
    let base = InstanceFilter::default;
    check(
        InstanceFilter { tasks: vec!["a".into(), "b".into()], ..base() },
        &["Task[a/1] -> Task[b/1]", "Task[a/2] -> Task[b/2]"],
    );
    check(
        InstanceFilter { nodes: vec!["2".into()], ..base() },
        &["Task[a/2] -> Task[b/2]", "Task[b/2] -> Task[c/2]"],
    );
    check(
        InstanceFilter { parents_of: Some("b".into()), ..base() },
        &["Task[a/1] -> Task[b/1]", "Task[a/2] -> Task[b/2]"],
    );
    check(
        InstanceFilter { running_only: true, ..base() },
        &[
            "Task[a/1] -> Task[c/1]",
            "Task[a/1] -> Task[c/2]",
            "Task[a/2] -> Task[c/1]",
            "Task[a/2] -> Task[c/2]",
        ],
    );
}

#[test]
fn omitted_instances_are_counted() {
    let few = |filter: InstanceFilter| {
        let drawing =
            draw_plan(&chain(), &InstanceFilter { n_max: Some(2), ..filter }, &looks).expect("a drawing");
        (
            drawing.vertices.iter().map(|vertex| vertex.id.clone()).collect::<Vec<_>>().join(" "),
            drawing.n_omitted,
        )
    };
    assert_eq!(few(InstanceFilter::default()), ("Task[a/1] Task[a/2]".to_owned(), 4));
    let parents = InstanceFilter { parents_of: Some("c".into()), ..InstanceFilter::default() };
    assert_eq!(few(parents), ("Task[b/1] Task[b/2]".to_owned(), 2));
}

#[test]
fn unknown_names_are_rejected() {
    let check = |filter: InstanceFilter, expected: &str| {
        assert_eq!(draw_plan(&chain(), &filter, &looks).expect_err("a wrong name").to_string(), expected);
    };
    let base = InstanceFilter::default;
    check(InstanceFilter { tasks: vec!["x".into()], ..base() }, "the plan has no task `x`");
    check(InstanceFilter { parents_of: Some("y".into()), ..base() }, "the plan has no task `y`");
    check(
        InstanceFilter { tasks: vec!["x".into()], nodes: vec!["7".into(), "8".into()], ..base() },
        "the plan has no task `x` and no node `7` or `8`",
    );
}
