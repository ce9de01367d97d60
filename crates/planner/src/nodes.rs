//! The nodes of a plan, in a fixed order: ordinary nodes by uid, then the master, then the virtual node of
//! stages.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_model::NodeIdx;
use stoker_state::{MASTER, SYNC};
use stoker_yaql::value::Map;
use stoker_yaql::{Engine, FixedHost, Input, Limits, Options, Value};

use crate::input::{NodeInput, PlanningInput};
use crate::report::{ExcludedNode, PlanningReport, codes, expression_problem};

#[derive(Debug)]
pub(crate) struct Nodes {
    /// Uids of all nodes, including `master` and `sync`.
    pub(crate) uids: Arc<[String]>,
    /// For each ordinary node, its index in the input.
    pub(crate) inputs: Vec<usize>,
    by_tag: BTreeMap<String, Vec<NodeIdx>>,
}

impl Nodes {
    pub(crate) fn new(input: &PlanningInput<'_>, options: &Options, report: &mut PlanningReport) -> Self {
        let mut inputs = select_nodes(input, options, report);
        report.excluded.sort_by(|a, b| compare_uids(&a.uid, &b.uid));
        inputs.sort_by(|a, b| compare_uids(&input.nodes[*a].uid, &input.nodes[*b].uid));
        inputs.dedup_by(|a, b| {
            let is_same = input.nodes[*a].uid == input.nodes[*b].uid;
            if is_same {
                let message = format!("node `{}` is listed twice", input.nodes[*a].uid);
                report.push(Diagnostic::error(codes::DUPLICATE, message));
            }
            is_same
        });
        let mut by_tag: BTreeMap<String, Vec<NodeIdx>> = BTreeMap::new();
        for (node_idx, at) in NodeIdx::first(inputs.len()).zip(&inputs) {
            for tag in input.nodes[*at].tags.iter().collect::<HashSet<_>>() {
                by_tag.entry(tag.clone()).or_default().push(node_idx);
            }
        }
        let names = inputs.iter().map(|at| input.nodes[*at].uid.clone());
        let uids = names.chain([MASTER.to_owned(), SYNC.to_owned()]).collect();
        Self { uids, inputs, by_tag }
    }

    /// Number of ordinary nodes.
    pub(crate) fn n_ordinary(&self) -> usize {
        self.inputs.len()
    }

    pub(crate) fn master(&self) -> NodeIdx {
        NodeIdx::at(self.n_ordinary())
    }

    pub(crate) fn sync(&self) -> NodeIdx {
        NodeIdx::at(self.n_ordinary() + 1)
    }

    pub(crate) fn tags(&self) -> &BTreeMap<String, Vec<NodeIdx>> {
        &self.by_tag
    }
}

/// Orders numeric uids by value, before all others.
fn compare_uids(a: &str, b: &str) -> Ordering {
    let number = |uid: &str| uid.parse::<u64>().ok();
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Reason for excluding an offline node.
pub const NODE_OFFLINE: &str = "the node is offline";

/// The nodes to plan for. An explicit list of nodes overrides the node filter of the graph.
fn select_nodes(input: &PlanningInput<'_>, options: &Options, report: &mut PlanningReport) -> Vec<usize> {
    let all = 0..input.nodes.len();
    let is_selected = |uid: &String| input.request.nodes.as_ref().is_none_or(|nodes| nodes.contains(uid));
    let offline = input.offline.iter().filter(|uid| is_selected(uid));
    report
        .excluded
        .extend(offline.map(|uid| ExcludedNode { uid: uid.clone(), reason: NODE_OFFLINE.to_owned() }));
    let (is_included, why): (Vec<bool>, &str) = match (&input.request.nodes, input.node_filter) {
        (Some(requested), _) => {
            let existing: HashSet<&str> = input.nodes.iter().map(|node| node.uid.as_str()).collect();
            for uid in requested.iter().filter(|uid| !existing.contains(uid.as_str())) {
                let message = format!("selected node `{uid}` is not in the cluster or is offline");
                report.push(Diagnostic::warning(codes::UNKNOWN_NODE, message));
            }
            let requested: HashSet<&str> = requested.iter().map(String::as_str).collect();
            (
                input.nodes.iter().map(|node| requested.contains(node.uid.as_str())).collect(),
                "the node is not selected",
            )
        }
        (None, Some(filter)) if !filter.trim().is_empty() => {
            (apply_filter(filter, input, options, report), "the node filter of the graph excludes the node")
        }
        (None, Some(_)) => return all.collect(),
        (None, None) => {
            let is_ready = |node: &NodeInput| node.record.as_ref().is_none_or(is_ready);
            (input.nodes.iter().map(is_ready).collect(), "the node is not ready for deployment")
        }
    };
    let excluded = input.nodes.iter().zip(&is_included).filter(|(_, is_included)| !**is_included);
    report
        .excluded
        .extend(excluded.map(|(node, _)| ExcludedNode { uid: node.uid.clone(), reason: why.to_owned() }));
    all.filter(|at| is_included[*at]).collect()
}

/// The nodes for which the filter is true. If the filter fails, none: a broken filter must not select nodes
/// by accident.
fn apply_filter(
    filter: &str,
    input: &PlanningInput<'_>,
    options: &Options,
    report: &mut PlanningReport,
) -> Vec<bool> {
    let none = || vec![false; input.nodes.len()];
    let predicate = match Engine::new(input.library.clone()).compile(filter) {
        Ok(predicate) => predicate,
        Err(error) => {
            report.push(expression_problem(codes::NODE_FILTER, &error, filter));
            return none();
        }
    };
    let host = FixedHost { now_micros: input.settings.now_micros, random_bits: input.settings.random_bits };
    let mut passing = none();
    for (node, is_included) in input.nodes.iter().zip(&mut passing) {
        let data = node.record.clone().unwrap_or(Value::Null);
        let limits = &Limits::DEFAULT;
        match predicate.run(Input { data, options, limits, host: &host, ..Input::default() }) {
            Ok(value) => *is_included = value.is_true(),
            Err(error) => {
                let problem = expression_problem(codes::NODE_FILTER, &error, filter);
                report.push(problem.nodes(vec![node.uid.clone()]));
                return none();
            }
        }
    }
    passing
}

/// The default node filter: nodes that are deployed, and nodes whose deployment failed.
fn is_ready(record: &Value) -> bool {
    const READY: &[&str] = &["ready", "provisioned", "stopped"];
    let Some(record) = record.as_map() else { return true };
    let field = |record: &Map, key: &str| record.get_str(key).cloned().unwrap_or_default();
    let is_status_ready = field(record, "status").as_str().is_none_or(|status| READY.contains(&status));
    let has_failed = field(record, "error_type").as_str() == Some("deploy");
    !field(record, "pending_addition").is_true()
        && !field(record, "pending_deletion").is_true()
        && (is_status_ready || has_failed)
}
