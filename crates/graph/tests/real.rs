//! Real graphs, when they lie beside the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stoker_graph::{CheckOptions, Finding, Layer, MergeRules, Scope, Severity, Source, check, codes, merge};
use stoker_manifest::{Format, graph};
use stoker_model::Task;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}

fn tasks(name: &str) -> Option<Vec<Task>> {
    let text = fs::read_to_string(folder().join("fuel-library").join(name)).ok()?;
    Some(graph::read_tasks(&text, Format::Yaml).into_result().expect("a right graph"))
}

/// Roles and tags of the real release.
fn places() -> Option<Vec<String>> {
    let text = fs::read_to_string(folder().join("nodes/roles-and-tags.yaml")).ok()?;
    let node = stoker_manifest::parse(&text, Format::Yaml).expect("a document");
    let names = |key: &str| {
        let map = node.get(key).and_then(|map| map.as_map()).unwrap_or_default();
        map.iter().filter_map(|(key, _)| key.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    Some([names("roles_metadata"), names("tags_metadata")].concat())
}

fn findings(tasks: &[Task], places: &[String]) -> Vec<Finding> {
    let layers = [Layer::of_tasks(Source::Release, tasks)];
    let options = CheckOptions { places: Some(places), ..CheckOptions::new(Scope::Whole) };
    check(&merge(&layers, MergeRules::default()), &options)
}

/// No false alarm on graphs that deployed clusters for years. Their slips are found: names that lead nowhere, and words
/// that somebody took for constants. None of them is an error.
#[test]
fn real_graphs_have_no_findings_but_their_slips() {
    let Some(places) = places() else { return };
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
            &["there is no task `set_status_provisioned`, so it has no effect"],
        ),
        (
            "net-verification__tasks.yaml",
            codes::DANGLING,
            &["there is no task `copy_cluster_configuration`, so it has no effect"],
        ),
    ];
    for (name, code, expected) in expected {
        let Some(tasks) = tasks(name) else { return };
        let found = findings(&tasks, &places);
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, expected, "{name}");
        assert!(found.iter().all(|finding| finding.code == code && finding.severity == Severity::Warning));
    }
}

#[test]
fn a_cycle_put_into_a_real_graph_is_found() {
    let (Some(mut tasks), Some(places)) = (tasks("default-graph.yaml"), places()) else { return };
    let hiera = tasks.iter_mut().find(|task| task.name == "hiera").expect("a task of the real graph");
    hiera.fields.insert("requires".to_owned(), vec!["netconfig"].into());
    let found = findings(&tasks, &places);
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error);
    let messages: Vec<&str> = errors.map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("tasks wait for each other: "), "{messages:?}");
    assert!(messages[0].contains("netconfig → hiera"), "{messages:?}");
}

#[test]
fn a_graph_ten_times_as_large_is_checked_to_the_end() {
    let (Some(tasks), Some(places)) = (tasks("default-graph.yaml"), places()) else { return };
    // Names and patterns of each copy keep to that copy, and exact names of stages to the first.
    let copy = |copy_idx: usize, task: &Task| {
        let text = serde_json::Value::Object(task.fields.clone()).to_string();
        let fields =
            serde_json::from_str(&text.replace("/^", &format!("/^(c{copy_idx}-)?"))).expect("fields");
        Task { name: format!("c{copy_idx}-{}", task.name), fields }
    };
    let large: Vec<Task> =
        (0..10).flat_map(|copy_idx| tasks.iter().map(move |task| copy(copy_idx, task))).collect();
    let half = CheckOptions::STEPS_MAX / 2;
    let layers = [Layer::of_tasks(Source::Release, &large)];
    let options = CheckOptions { places: Some(&places), steps_max: half, ..CheckOptions::new(Scope::Whole) };
    let found = check(&merge(&layers, MergeRules::default()), &options);
    assert!(found.iter().all(|finding| finding.code != codes::TOO_LARGE));
}

/// As many tasks as a release and plugins of its size have, under `n_copies` sets of names.
fn copies(tasks: &[Task], n_copies: usize) -> Vec<Task> {
    let copy = |copy_idx: usize| {
        tasks
            .iter()
            .map(move |task| Task { name: format!("{}-{copy_idx}", task.name), fields: task.fields.clone() })
    };
    (0..n_copies).flat_map(copy).collect()
}

/// The fastest of some attempts: the one that was disturbed least.
#[expect(clippy::disallowed_methods, reason = "a test of speed reads the clock")]
fn fastest(mut work: impl FnMut()) -> Duration {
    let attempt = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    (0..20).map(|_| attempt(&mut work)).min().unwrap_or_default()
}

#[test]
fn merging_costs_as_much_as_there_is_to_merge() {
    let Some(tasks) = tasks("default-graph.yaml") else { return };
    let time = |n_copies: usize| {
        let (release, cluster) = (copies(&tasks, n_copies), copies(&tasks, n_copies));
        let layers = [Layer::of_tasks(Source::Release, &release), Layer::of_tasks(Source::Cluster, &cluster)];
        fastest(|| assert_eq!(merge(&layers, MergeRules::default()).tasks.len(), release.len()))
    };
    let (small, large) = (time(2), time(20));
    println!("408 tasks over 408: {small:?}, ten times as many: {large:?}");
    // Ten times the tasks at ten times the work, and some more because they no longer fit into the caches; a square
    // would be a hundred.
    assert!(large < small * 60, "{small:?} {large:?}");
}
