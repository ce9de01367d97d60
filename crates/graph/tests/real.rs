//! Real graphs, if the data is present next to the workspace; tests without the data are skipped.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use stoker_diagnostics::{Diagnostic, Severity};
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, check, codes, merge};
use stoker_manifest::{Format, graph};
use stoker_model::Task;

fn folder() -> Option<PathBuf> {
    stoker_testenv::shared_folder(".")
}

fn tasks(name: &str) -> Option<Vec<Task>> {
    let text = fs::read_to_string(folder()?.join("fuel-library").join(name)).ok()?;
    Some(graph::read_tasks(&text, Format::Yaml).into_result().expect("a valid graph"))
}

/// Returns the roles and tags of the real release.
fn places() -> Option<Vec<String>> {
    let text = fs::read_to_string(folder()?.join("nodes/roles-and-tags.yaml")).ok()?;
    let node = stoker_manifest::parse(&text, Format::Yaml).expect("a document");
    let names = |key: &str| {
        let map = node.get(key).and_then(|map| map.as_map()).unwrap_or_default();
        map.iter().filter_map(|(key, _)| key.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    Some([names("roles_metadata"), names("tags_metadata")].concat())
}

fn findings(tasks: &[Task], places: &[String]) -> Vec<Diagnostic> {
    let layers = [Layer::of_tasks(Source::Release, tasks)];
    let options = GraphCheckOptions { roles_and_tags: Some(places), ..GraphCheckOptions::new(Scope::Merged) };
    check(&merge(&layers, MergeRules::default()), &options)
}

/// Graphs that have deployed clusters for years cause no false positives. The check finds their actual
/// mistakes, all as warnings: dangling names, and bare words that were meant as constants.
#[test]
fn real_graphs_have_only_known_findings() {
    let Some(places) = places() else { return };
    // Parameters of six tasks read whether their node was deployed before; no condition needs to observe that.
    let unobserved = |observed: &str| {
        let message = format!(
            "parameters read `$.deployed_before.value`, but the condition observes only {observed} more: the task does not \
             run when they change"
        );
        [message.clone(), message]
    };
    let Some(default_tasks) = tasks("default-graph.yaml") else { return };
    let mut messages: Vec<String> = findings(&default_tasks, &places)
        .into_iter()
        .filter(|finding| finding.code == codes::UNOBSERVED_INPUT)
        .map(|finding| finding.message)
        .collect();
    messages.sort();
    let expected = [
        unobserved("`$.amqp_port`, `$.configuration.rabbitmq`, `$.debug` and 19"),
        unobserved("`$.colocate_haproxy`, `$.configuration.haproxy`, `$.database_vip` and 6"),
        unobserved("`$.configuration.mysql`, `$.database_nodes`, `$.database_vip` and 10"),
    ];
    assert_eq!(messages, expected.concat());
    let expected = [
        (
            "default-graph.yaml",
            codes::BARE_WORD,
            &[
                "`None` is the text \"None\" here, column 29 of the expression",
                "`None` is the text \"None\" here, column 37 of the expression",
                "`undef` is the text \"undef\" here, column 44 of the expression",
            ][..],
        ),
        ("deletion__tasks.yaml", codes::DANGLING, &[]),
        (
            "provision__tasks.yaml",
            codes::DANGLING,
            &["task `set_status_provisioned` does not exist, so the dependency has no effect"],
        ),
        (
            "net-verification__tasks.yaml",
            codes::DANGLING,
            &["task `copy_cluster_configuration` does not exist, so the dependency has no effect"],
        ),
    ];
    for (name, code, expected) in expected {
        let Some(tasks) = tasks(name) else { return };
        let mut reported = findings(&tasks, &places);
        reported.retain(|finding| ![codes::UNOBSERVED_INPUT, codes::NOT_EXECUTED].contains(&&*finding.code));
        let messages: Vec<&str> = reported.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, expected, "{name}");
        assert!(reported.iter().all(|finding| finding.code == code && finding.severity == Severity::Warning));
    }
}

#[test]
fn fields_of_a_real_graph_that_are_not_executed_are_noted() {
    let (Some(tasks), Some(places)) = (tasks("default-graph.yaml"), places()) else { return };
    let mut noted = findings(&tasks, &places);
    noted.retain(|finding| finding.code == codes::NOT_EXECUTED);
    assert!(noted.iter().all(|finding| finding.severity == Severity::Note));
    let messages: Vec<&str> = noted.iter().map(|finding| finding.message.as_str()).collect();
    let expected = [
        "`reexecute_on` is not executed (in 1 task)",
        "`test_pre` is not executed (in 38 tasks)",
        "`test_post` is not executed (in 51 tasks)",
        "entries of `refresh_on` that name no task trigger nothing: `*`, `keystone_config`, `neutron_agent_ovs`, \
         `neutron_api_config`, `neutron_config`, 7 more (in 23 tasks)",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn cycle_in_a_real_graph_is_reported() {
    let (Some(mut tasks), Some(places)) = (tasks("default-graph.yaml"), places()) else { return };
    let hiera = tasks.iter_mut().find(|task| task.name == "hiera").expect("a task of the real graph");
    hiera.fields.insert("requires".to_owned(), vec!["netconfig"].into());
    let reported = findings(&tasks, &places);
    let errors = reported.iter().filter(|finding| finding.severity == Severity::Error);
    let messages: Vec<&str> = errors.map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("dependency cycle: "), "{messages:?}");
    assert!(messages[0].contains("netconfig → hiera"), "{messages:?}");
}

#[test]
fn graph_of_ten_times_the_size_is_checked_completely() {
    let (Some(tasks), Some(places)) = (tasks("default-graph.yaml"), places()) else { return };
    // Names and patterns of each copy refer to that copy, and exact names of stages to the first.
    let copy = |copy_idx: usize, task: &Task| {
        let text = serde_json::Value::Object(task.fields.clone()).to_string();
        let fields =
            serde_json::from_str(&text.replace("/^", &format!("/^(c{copy_idx}-)?"))).expect("fields");
        Task { name: format!("c{copy_idx}-{}", task.name), fields }
    };
    let large: Vec<Task> =
        (0..10).flat_map(|copy_idx| tasks.iter().map(move |task| copy(copy_idx, task))).collect();
    let half = GraphCheckOptions::STEPS_MAX / 2;
    let layers = [Layer::of_tasks(Source::Release, &large)];
    let options = GraphCheckOptions {
        roles_and_tags: Some(&places),
        steps_max: half,
        ..GraphCheckOptions::new(Scope::Merged)
    };
    let reported = check(&merge(&layers, MergeRules::default()), &options);
    assert!(reported.iter().all(|finding| finding.code != codes::TOO_LARGE));
}

/// Copies of all tasks under `n_copies` sets of names.
fn copies(tasks: &[Task], n_copies: usize) -> Vec<Task> {
    let copy = |copy_idx: usize| {
        tasks
            .iter()
            .map(move |task| Task { name: format!("{}-{copy_idx}", task.name), fields: task.fields.clone() })
    };
    (0..n_copies).flat_map(copy).collect()
}

/// Returns the fastest of 20 attempts, which is the least disturbed one.
#[expect(clippy::disallowed_methods, reason = "the test measures elapsed time")]
fn fastest(mut work: impl FnMut()) -> Duration {
    let attempt = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    (0..20).map(|_| attempt(&mut work)).min().unwrap_or_default()
}

#[test]
fn merge_time_is_linear() {
    let Some(tasks) = tasks("default-graph.yaml") else { return };
    let time = |n_copies: usize| {
        let (release, cluster) = (copies(&tasks, n_copies), copies(&tasks, n_copies));
        let layers = [Layer::of_tasks(Source::Release, &release), Layer::of_tasks(Source::Cluster, &cluster)];
        fastest(|| assert_eq!(merge(&layers, MergeRules::default()).tasks.len(), release.len()))
    };
    let (small, large) = (time(2), time(20));
    println!("408 tasks over 408: {small:?}, ten times as many: {large:?}");
    // Ten times the tasks should take ten times as long, and somewhat more because they exceed the CPU
    // caches; quadratic time would be a factor of a hundred.
    assert!(large < small * 60, "{small:?} {large:?}");
}
