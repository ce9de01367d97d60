//! The nodes of a run, in a fixed order: ordinary nodes by uid, then the master, then the place of stages.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use stoker_yaql::value::Map;
use stoker_yaql::{Engine, FixedHost, Input, Limits, Options, Value};

use crate::compute::subjects::NodeIdx;
use crate::input::{NodeInput, PlanningInput};
use crate::problem::{Excluded, Problem, Report, codes};
use crate::state::{MASTER, SYNC};

#[derive(Debug)]
pub(crate) struct Nodes {
    /// Uids of all, the master and the place of stages included.
    pub(crate) uids: Arc<[String]>,
    /// Beside each ordinary node, where it is in the input.
    pub(crate) inputs: Vec<usize>,
    by_tag: BTreeMap<String, Vec<NodeIdx>>,
}

impl Nodes {
    pub(crate) fn new(input: &PlanningInput<'_>, options: &Options, report: &mut Report) -> Self {
        let mut inputs = selected(input, options, report);
        inputs.sort_by(|a, b| compare_uids(&input.nodes[*a].uid, &input.nodes[*b].uid));
        inputs.dedup_by(|a, b| {
            let is_same = input.nodes[*a].uid == input.nodes[*b].uid;
            if is_same {
                let message = format!("node `{}` is given twice", input.nodes[*a].uid);
                report.push(Problem::error(codes::DUPLICATE, message));
            }
            is_same
        });
        let mut by_tag: BTreeMap<String, Vec<NodeIdx>> = BTreeMap::new();
        for (node_idx, at) in (0_u32..).zip(&inputs) {
            for tag in input.nodes[*at].tags.iter().collect::<HashSet<_>>() {
                by_tag.entry(tag.clone()).or_default().push(node_idx);
            }
        }
        let names = inputs.iter().map(|at| input.nodes[*at].uid.clone());
        let uids = names.chain([MASTER.to_owned(), SYNC.to_owned()]).collect();
        Self { uids, inputs, by_tag }
    }

    /// How many ordinary nodes there are.
    pub(crate) fn n_ordinary(&self) -> u32 {
        self.inputs.len() as u32
    }

    pub(crate) fn master(&self) -> NodeIdx {
        self.n_ordinary()
    }

    pub(crate) fn sync(&self) -> NodeIdx {
        self.n_ordinary() + 1
    }

    pub(crate) fn tags(&self) -> &BTreeMap<String, Vec<NodeIdx>> {
        &self.by_tag
    }
}

/// Numbers in the order of numbers, and before names.
fn compare_uids(a: &str, b: &str) -> Ordering {
    let number = |uid: &str| uid.parse::<u64>().ok();
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Why a node that is away takes no part in a plan.
pub const NOT_ONLINE: &str = "it is not online";

/// Which nodes take part. A list of nodes wins over the filter of the graph.
fn selected(input: &PlanningInput<'_>, options: &Options, report: &mut Report) -> Vec<usize> {
    let all = 0..input.nodes.len();
    let is_asked = |uid: &String| input.request.nodes.as_ref().is_none_or(|nodes| nodes.contains(uid));
    let away = input.away.iter().filter(|uid| is_asked(uid));
    report.excluded.extend(away.map(|uid| Excluded { uid: uid.clone(), why: NOT_ONLINE.to_owned() }));
    let (kept, why): (Vec<bool>, &str) = match (&input.request.nodes, input.node_filter) {
        (Some(wanted), _) => {
            let known: HashSet<&str> = input.nodes.iter().map(|node| node.uid.as_str()).collect();
            for uid in wanted.iter().filter(|uid| !known.contains(uid.as_str())) {
                let message = format!("node `{uid}` was asked for and is not in the cluster or not online");
                report.push(Problem::warning(codes::UNKNOWN_NODE, message));
            }
            let wanted: HashSet<&str> = wanted.iter().map(String::as_str).collect();
            (
                input.nodes.iter().map(|node| wanted.contains(node.uid.as_str())).collect(),
                "it was not asked for",
            )
        }
        (None, Some(filter)) if !filter.trim().is_empty() => {
            (passing(filter, input, options, report), "the node filter of the graph leaves it out")
        }
        (None, Some(_)) => return all.collect(),
        (None, None) => {
            let is_ready = |node: &NodeInput| node.record.as_ref().is_none_or(is_ready);
            (input.nodes.iter().map(is_ready).collect(), "it is not ready to be deployed")
        }
    };
    let excluded = input.nodes.iter().zip(&kept).filter(|(_, is_kept)| !**is_kept);
    report.excluded.extend(excluded.map(|(node, _)| Excluded { uid: node.uid.clone(), why: why.to_owned() }));
    all.filter(|at| kept[*at]).collect()
}

/// Nodes of which the filter is true. Without a result no node passes: what was not understood selects nothing.
fn passing(filter: &str, input: &PlanningInput<'_>, options: &Options, report: &mut Report) -> Vec<bool> {
    let none = || vec![false; input.nodes.len()];
    let predicate = match Engine::new(input.library.clone()).compile(filter) {
        Ok(predicate) => predicate,
        Err(error) => {
            report.push(Problem::of_expression(codes::NODE_FILTER, &error, filter));
            return none();
        }
    };
    let host = FixedHost { now_micros: input.settings.now_micros, random_bits: input.settings.random_bits };
    let mut passing = none();
    for (node, is_kept) in input.nodes.iter().zip(&mut passing) {
        let data = node.record.clone().unwrap_or(Value::Null);
        let limits = &Limits::DEFAULT;
        match predicate.run(Input { data, options, limits, host: &host, ..Input::default() }) {
            Ok(value) => *is_kept = value.is_true(),
            Err(error) => {
                let problem = Problem::of_expression(codes::NODE_FILTER, &error, filter);
                report.push(problem.on(vec![node.uid.clone()]));
                return none();
            }
        }
    }
    passing
}

/// What holds when a graph has no filter: deployed nodes, and those whose deployment went wrong.
fn is_ready(record: &Value) -> bool {
    const READY: &[&str] = &["ready", "provisioned", "stopped"];
    let Some(record) = record.as_map() else { return true };
    let field = |record: &Map, key: &str| record.get_str(key).cloned().unwrap_or_default();
    let is_status_right = field(record, "status").as_str().is_none_or(|status| READY.contains(&status));
    let has_failed = field(record, "error_type").as_str() == Some("deploy");
    !field(record, "pending_addition").is_true()
        && !field(record, "pending_deletion").is_true()
        && (is_status_right || has_failed)
}
