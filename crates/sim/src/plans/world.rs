//! The system under test: the real planner, the real documents and the real rules for applied states, without a
//! database.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stoker_helpers::{HelperFile, load};
use stoker_model::{GraphType, InstanceIdx, JsonMap, OnDefinitionChange, TaintCause, Task};
use stoker_planner::{
    FileDigests, InputsKey, InstanceAction, NodeInput, Plan, PlanScope, PlanningInput, PlanningReport,
    SettledDocuments, StateAfterRun, inputs_digest, inputs_of, plan, source_digests,
};
use stoker_state::{
    AppliedGraph, AppliedLedger, AppliedStates, Document, EffectiveState, LedgerScope, LedgerSuccess,
    Settled, SourceDigests, document, master_document, set_status, settle_common, settled,
};
use stoker_yaql::Library;

use super::records::{state_of, tasks_of};
use super::site::{FILE, MASTER, Scope, Site};

/// A defect to inject, to prove that the checks detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanSabotage {
    None,
    /// Plans ignore that an attempt did not succeed.
    NoTaint,
    /// Applied states are shared by graph types.
    GraphTypeIgnored,
    /// A success is recorded with the statuses before its run.
    PreRunStatuses,
    /// The state before a failed attempt is lost.
    NoSecondLook,
    /// Edits of tasks are invisible.
    DefinitionsIgnored,
    /// A run is planned with the status that the cluster has during the run.
    StatusDuringRun,
    /// A success is recorded although the applied states of its node were invalidated meanwhile.
    NoFence,
    /// Inputs are rendered with the statuses before the run.
    UnsettledInputs,
    /// All tasks of a node share the state of its last run.
    SharedState,
    /// Triggers of earlier runs are forgotten.
    TriggersForgotten,
    /// Members run whatever the conditions of their groups say.
    GroupConditionsIgnored,
}

const KEY: InputsKey = InputsKey([7; 32]);
/// Filter of a cluster without a provision graph.
const NODE_FILTER: &str = "not $.pending_deletion";

pub(crate) struct World {
    sabotage: PlanSabotage,
    ledger: AppliedLedger,
    /// By the id that successes refer to.
    snapshots: Vec<Snapshot>,
}

/// What the successes of one run refer to: states with the statuses after the run.
struct Snapshot {
    graph: Arc<AppliedGraph>,
    common: Document,
    /// By uid.
    own: BTreeMap<String, Document>,
}

/// A plan with what its run needs.
pub(crate) struct WorldPlan {
    pub(crate) plan: Plan,
    pub(crate) report: PlanningReport,
    common: JsonMap,
    own: BTreeMap<String, JsonMap>,
    graph: Arc<AppliedGraph>,
    settled: Settled,
}

/// How to plan: the result must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanVariant {
    DryRun,
    /// As for a run that has started, with nodes and tasks in another order, and applied states in another form.
    RealRun,
}

impl World {
    pub(crate) fn new(sabotage: PlanSabotage) -> Self {
        Self { sabotage, ledger: AppliedLedger::default(), snapshots: Vec::new() }
    }

    fn ledger_type(&self, graph_type: &'static str) -> &'static str {
        if self.sabotage == PlanSabotage::GraphTypeIgnored { "default" } else { graph_type }
    }

    /// Plans a run, as the server does.
    pub(crate) fn plan(
        &self,
        site: &Site,
        graph_type: &'static str,
        scope: &Scope,
        variant: PlanVariant,
    ) -> Result<WorldPlan, PlanningReport> {
        let mut site = site.clone();
        if variant == PlanVariant::RealRun && self.sabotage == PlanSabotage::StatusDuringRun {
            site.status = super::site::DEPLOYMENT;
        }
        let (state, members) = state_of(&site);
        let mut tasks = tasks_of(&site, graph_type);
        if self.sabotage == PlanSabotage::GroupConditionsIgnored {
            let groups = tasks.iter_mut().filter(|task| task.field("type") == Some(&"group".into()));
            groups.for_each(|group| _ = group.fields.shift_remove("condition"));
        }
        let applied = self.applied(graph_type, &tasks, &site, variant);
        let mut nodes: Vec<NodeInput> = state
            .nodes
            .iter()
            .filter(|node| site.nodes[&node.uid].online)
            .map(|node| NodeInput {
                uid: node.uid.clone(),
                tags: node.tags.clone(),
                document: document(&node.document),
                record: Some(document(&node.record).value().clone()),
            })
            .collect();
        if variant == PlanVariant::RealRun {
            nodes.reverse();
            tasks.reverse();
        }
        let own: BTreeMap<String, JsonMap> =
            state.nodes.iter().map(|node| (node.uid.clone(), node.document.clone())).collect();
        let is_partial = site.leaves_out(scope);
        let after_run = StateAfterRun::new(|occupied| {
            let occupied = occupied.iter().map(|uid| (*uid).to_owned()).collect();
            let steady = settled(&members, &occupied, &GraphType::default(), None, false);
            (self.sabotage != PlanSabotage::UnsettledInputs)
                .then(|| settled_documents(&state.common, &own, &steady))
        });
        let files = site.file.to_string();
        let offline = site.nodes.iter().filter(|(_, node)| !node.online).map(|(uid, _)| uid.clone());
        let input = PlanningInput {
            node_filter: Some(NODE_FILTER),
            library: library(site.helper),
            offline: offline.collect(),
            old: (!scope.force).then_some(&applied),
            sources: sources(&tasks, &site),
            files: FileDigests::new(move |path| (path == FILE).then(|| files.clone())),
            on_definition_change: if site.graphs[graph_type].keep {
                OnDefinitionChange::Keep
            } else {
                OnDefinitionChange::Rerun
            },
            inputs_key: KEY,
            after_run,
            request: PlanScope {
                nodes: scope.nodes.as_ref().map(|nodes| nodes.iter().cloned().collect()),
                tasks: scope.tasks.as_ref().map(|tasks| tasks.iter().cloned().collect()),
                subgraphs: Vec::new(),
                force: scope.force,
            },
            ..PlanningInput::new(&tasks, document(&state.common), nodes)
        };
        let (plan, report) = plan(&input)?;
        let is_part = scope.tasks.is_some();
        let instances = plan.instances();
        let participants: BTreeSet<String> = instances
            .filter(|instance| !is_part || instance.verdict.action() == InstanceAction::Run)
            .map(|instance| instance.node.to_owned())
            .collect();
        let graph = AppliedGraph {
            tasks: tasks.iter().map(|task| (task.name.clone(), task.fields.clone())).collect(),
            sources: Some(source_digests(&input)),
        };
        let settled = settled(&members, &participants, &GraphType::default(), None, is_partial);
        drop(input);
        Ok(WorldPlan { plan, report, common: state.common, own, graph: Arc::new(graph), settled })
    }

    /// The applied states in the planner's form. The server makes the most common state of a node its default; in the
    /// other variant, every state is an exception.
    fn applied(
        &self,
        graph_type: &'static str,
        tasks: &[Task],
        site: &Site,
        variant: PlanVariant,
    ) -> AppliedStates {
        let mut applied = AppliedStates::default();
        let mut graphs = BTreeMap::new();
        // By node and snapshot.
        let mut by_node: BTreeMap<&str, BTreeMap<i64, Vec<&str>>> = BTreeMap::new();
        for (uid, task, entry) in self.ledger.entries(self.ledger_type(graph_type)) {
            if !(site.nodes.contains_key(uid) || uid == MASTER) {
                continue;
            }
            let mut success = entry.success.as_ref();
            if let Some((run, cause)) = entry.taint.filter(|_| self.sabotage != PlanSabotage::NoTaint) {
                applied.set_taint(task, uid, cause, run);
                success = success.filter(|_| self.sabotage != PlanSabotage::NoSecondLook);
            }
            if let Some(success) = success {
                by_node.entry(uid).or_default().entry(success.snapshot).or_default().push(task);
                if let Ok(digest) = success.inputs.parse() {
                    applied.set_inputs(task, uid, digest);
                }
            }
        }
        for (uid, groups) in by_node {
            let usual = groups.iter().max_by_key(|(_, tasks)| tasks.len()).map(|(id, _)| *id);
            let task_names: BTreeSet<&str> = groups.values().flatten().copied().collect();
            let newest = groups.keys().copied().max();
            for (id, group) in groups {
                let used = if self.sabotage == PlanSabotage::SharedState { newest.unwrap_or(id) } else { id };
                let snapshot = &self.snapshots[used as usize];
                let graph =
                    *graphs.entry(id).or_insert_with(|| applied.add_graph(Arc::clone(&snapshot.graph)));
                let graph = (self.sabotage != PlanSabotage::DefinitionsIgnored).then_some(graph);
                let node = snapshot.own.get(uid).cloned().unwrap_or_else(master_document);
                let state = EffectiveState { common: snapshot.common.clone(), node };
                if usual == Some(id) && variant == PlanVariant::DryRun {
                    applied.set_node(uid, state, graph);
                } else {
                    applied.set_tasks(group, uid, Some((state, graph)));
                }
            }
            let never = tasks.iter().map(|task| task.name.as_str()).filter(|task| !task_names.contains(task));
            applied.set_tasks(never, uid, None);
        }
        applied
    }

    /// Records that an attempt is sent.
    pub(crate) fn send(&mut self, graph_type: &'static str, task: &str, uid: &str, run: i64) {
        self.mark(graph_type, task, uid, run, TaintCause::InFlight);
    }

    pub(crate) fn mark(
        &mut self,
        graph_type: &'static str,
        task: &str,
        uid: &str,
        run: i64,
        cause: TaintCause,
    ) {
        self.ledger.mark(self.ledger_type(graph_type), uid, task, run, cause);
    }

    /// Records that a handler was triggered.
    pub(crate) fn trigger(&mut self, graph_type: &'static str, task: &str, uid: &str, run: i64) {
        if self.sabotage != PlanSabotage::TriggersForgotten {
            self.mark(graph_type, task, uid, run, TaintCause::Triggered);
        }
    }

    pub(crate) fn mark_late(&mut self, graph_type: &'static str, task: &str, uid: &str, run: i64) {
        self.ledger.mark_late(self.ledger_type(graph_type), uid, task, run);
    }

    /// Stores what successes of a plan refer to, and returns the number of the snapshot.
    pub(crate) fn store(&mut self, planned: &WorldPlan) -> usize {
        let (mut common, settled) = (planned.common.clone(), &planned.settled);
        let is_settled = self.sabotage != PlanSabotage::PreRunStatuses;
        if is_settled {
            settle_common(&mut common, settled);
        }
        let own = planned.own.iter().map(|(uid, own)| {
            let mut own = own.clone();
            if is_settled && let Some(status) = settled.by_uid().get(uid.as_str()) {
                set_status(&mut own, status);
            }
            (uid.clone(), document(&own))
        });
        let own = own.collect();
        self.snapshots.push(Snapshot { graph: Arc::clone(&planned.graph), common: document(&common), own });
        self.snapshots.len() - 1
    }

    /// Records a success of an instance of a plan.
    pub(crate) fn succeed(
        &mut self,
        graph_type: &'static str,
        planned: &WorldPlan,
        snapshot: usize,
        idx: InstanceIdx,
        run: i64,
    ) {
        let (Some(instance), Some(details)) = (planned.plan.instance(idx), planned.plan.details(idx)) else {
            return;
        };
        let steady = planned.report.steady.get(instance.task);
        let steady = steady.and_then(|inputs| inputs.get(&planned.plan.details_idx(idx)?.get()));
        let inputs = steady.cloned().unwrap_or_else(|| inputs_of(&details.parameters));
        let digest = inputs_digest(&details.task_type, &inputs, &KEY);
        let success = LedgerSuccess {
            snapshot: snapshot as i64,
            document: snapshot as i64,
            inputs: digest.to_string(),
            inputs_document: 0,
        };
        let graph_type = self.ledger_type(graph_type);
        if self.sabotage == PlanSabotage::NoFence {
            self.ledger.mark(graph_type, instance.node, instance.task, run, TaintCause::InFlight);
        }
        self.ledger.succeed(graph_type, instance.node, instance.task, run, success);
    }

    pub(crate) fn invalidate(&mut self, uid: &str) {
        self.ledger.invalidate(&[uid], LedgerScope::All);
    }
}

/// `task, node` of the instances that run.
pub(crate) fn running(plan: &Plan) -> impl Iterator<Item = (&str, &str)> {
    let running = plan.instances().filter(|instance| instance.verdict.action() == InstanceAction::Run);
    running.map(|instance| (instance.task, instance.node))
}

fn settled_documents(
    common: &JsonMap,
    own: &BTreeMap<String, JsonMap>,
    settled: &Settled,
) -> SettledDocuments {
    let mut common = common.clone();
    settle_common(&mut common, settled);
    let own = own.iter().map(|(uid, own)| {
        let mut own = own.clone();
        if let Some(status) = settled.by_uid().get(uid.as_str()) {
            set_status(&mut own, status);
        }
        (uid.clone(), document(&own))
    });
    SettledDocuments { common: document(&common), own: own.collect() }
}

/// Digests of the files that tasks copy.
fn sources(tasks: &[Task], site: &Site) -> SourceDigests {
    let copying =
        tasks.iter().filter(|task| task.fields.get("type").is_some_and(|kind| kind == "copy_files"));
    let digests = BTreeMap::from([(FILE.to_owned(), site.file.to_string())]);
    SourceDigests {
        files: copying.map(|task| (task.name.clone(), digests.clone())).collect(),
        ..SourceDigests::default()
    }
}

/// The library with the helpers of a site. Loading takes longer than planning, so it is done once per version.
fn library(version: u32) -> Arc<Library> {
    thread_local!(static LIBRARIES: RefCell<BTreeMap<u32, Arc<Library>>> = const { RefCell::new(BTreeMap::new()) });
    LIBRARIES.with_borrow_mut(|libraries| {
        let load_version = || {
            let text = format!(
                "functions:\n  - name: moved\n    parameters: [key]\n    body: changed($.get($key))\n  - name: decorate\n    \
                 parameters: [text]\n    body: \"'{version}: ' + $text\"\n"
            );
            let loaded = load(&[HelperFile { name: "site.yaml", text: &text }], &stoker_planner::library());
            loaded.library.unwrap_or_else(|| unreachable!("valid helpers: {:?}", loaded.problems))
        };
        Arc::clone(libraries.entry(version).or_insert_with(load_version))
    })
}
