//! Plans a large fleet and prints how long that takes: `cargo run --release -p stoker-planner --example fleet`.
//!
//! The real cluster is grown with copies of its compute node, each with entries of its own in what all nodes have in
//! common, so that the state grows with the fleet. The old state shares nothing with the new one in memory, as when it
//! was read from a database.

#![allow(clippy::print_stdout, reason = "a tool for developers talks on standard output")]
#![allow(clippy::disallowed_methods, reason = "measuring is what the clock is here for")]

#[path = "../tests/real/mod.rs"]
mod real;

use std::time::{Duration, Instant};

use real::Cluster;
use stoker_planner::state::{Document, OldStates};
use stoker_planner::{Action, NodeInput, PlanningInput, Settings, plan};
use stoker_yaql::Value;
use stoker_yaql::value::Map;

/// The allocator of the real program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const N_ROUNDS: usize = 5;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![6, 1_000, 10_000] } else { sizes };
    let (Some(cluster), Some(expected), Some(tasks)) =
        (Cluster::real(), real::expected_plans(), real::tasks("default-graph.yaml"))
    else {
        println!("the real data is not beside the workspace");
        return;
    };
    println!(
        "| nodes | old state | instances | run | vertices | edges kept | evaluations | best | peak memory |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|---:|");
    for size in sizes {
        let now = grown(&cluster, size);
        let tags = real::node_inputs(&cluster, &expected);
        let same = grown(&cluster, size);
        let changed = with_debug(&same);
        let pasts: [(&str, Option<OldStates>); 3] =
            [("none", None), ("same", Some(same.as_old())), ("one setting", Some(changed.as_old()))];
        for (name, old) in &pasts {
            let nodes = now.nodes.iter().map(|(uid, own)| {
                let known = tags.iter().find(|node| node.uid == *uid);
                let tags = known.map_or_else(|| vec!["compute".to_owned()], |node| node.tags.clone());
                NodeInput { uid: uid.clone(), tags, document: own.clone(), record: None }
            });
            let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let input = PlanningInput {
                old: old.as_ref(),
                settings: Settings { n_threads, ..Settings::default() },
                ..PlanningInput::new(&tasks, now.common.clone(), nodes.collect())
            };
            let mut best = Duration::MAX;
            for _ in 0..N_ROUNDS {
                let started = Instant::now();
                let planned = plan(&input);
                best = best.min(started.elapsed());
                drop(planned);
            }
            let (plan, report) = plan(&input).unwrap_or_else(|report| panic!("{:#?}", report.problems));
            let n_run = plan.instances().filter(|found| found.verdict.action() == Action::Run).count();
            let (n_vertices, n_edges) = plan.size();
            println!(
                "| {size} | {name} | {} | {n_run} | {n_vertices} | {n_edges} | {} | {:.1} ms | {} MiB |",
                plan.n_instances(),
                report.n_evaluations,
                best.as_secs_f64() * 1000.0,
                peak_mib(),
            );
        }
    }
}

/// The real cluster with so many nodes in all. Everything is made anew.
fn grown(cluster: &Cluster, size: usize) -> Cluster {
    let copy = |value: &Value| stoker_yaql::json::parse(&text(value)).expect("JSON");
    let compute =
        cluster.nodes.iter().find(|(uid, _)| uid == "127").map(|(_, own)| own.clone()).expect("compute");
    let common = copy(cluster.common.value());
    let common_map = common.as_map().expect("a map");
    let list = common_map.get_str("nodes").and_then(Value::as_seq).expect("nodes");
    let metadata = common_map.get_str("network_metadata").and_then(Value::as_map).expect("metadata");
    let by_name = metadata.get_str("nodes").and_then(Value::as_map).expect("nodes");
    let record = list.iter().find(|node| text(node).contains("node-127")).expect("a record").clone();
    let entry = by_name.get_str("node-127").expect("an entry").clone();
    let (mut list, mut by_name) = (list.to_vec(), by_name.to_builder());
    let mut nodes: Vec<(String, Document)> =
        cluster.nodes.iter().map(|(uid, own)| (uid.clone(), Document::new(&copy(own.value())))).collect();
    for number in 0..size.saturating_sub(cluster.nodes.len()) {
        let uid = (1000 + number).to_string();
        let own = |value: &Value| {
            let (third, fourth) = (number / 250, number % 250 + 1);
            let renamed = text(value)
                .replace("node-127", &format!("node-{uid}"))
                .replace("\"127\"", &format!("\"{uid}\""));
            let addressed = renamed.replace("192.168.0.3", &format!("172.{third}.0.{fourth}"));
            stoker_yaql::json::parse(&addressed).expect("JSON")
        };
        list.push(own(&record));
        by_name.insert(format!("node-{uid}").into(), own(&entry)).expect("a key");
        nodes.push((uid.clone(), Document::new(&own(compute.value()))));
    }
    let mut metadata = metadata.to_builder();
    metadata.insert("nodes".into(), Value::frozen_dict(by_name.build())).expect("a key");
    let mut common = common_map.to_builder();
    common.insert("network_metadata".into(), Value::frozen_dict(metadata.build())).expect("a key");
    common.insert("nodes".into(), Value::tuple(list)).expect("a key");
    Cluster { common: Document::new(&Value::frozen_dict(common.build())), nodes }
}

/// The same cluster with another value of one setting.
fn with_debug(cluster: &Cluster) -> Cluster {
    let mut common = cluster.common.value().as_map().expect("a map").to_builder();
    common.insert("debug".into(), "another".into()).expect("a key");
    Cluster {
        common: Document::new(&Value::frozen_dict(Map::to_builder(&common.build()).build())),
        nodes: cluster.nodes.clone(),
    }
}

fn text(value: &Value) -> String {
    stoker_yaql::json::write(value, &stoker_yaql::json::WriteOptions::default()).expect("JSON")
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() / 1024
}
