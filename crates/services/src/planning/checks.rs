//! What to compare with which nodes: the inputs of the last successes, as far as they are still the desired ones.
//!
//! Stored inputs have no secrets and no long texts, so they cannot be compared with a node. Inputs are rendered again
//! instead; those with the fingerprint of the last success are the applied ones.

use std::collections::{BTreeMap, HashMap, HashSet};

use stoker_model::{
    AppliedInstances, Cluster, ClusterId, DriftResult, DriftStatus, GraphType, Json, Micros, NodeId, OnDrift,
    RunId,
};
use stoker_planner::{DetailsIdx, NODE_OFFLINE, PlannedTask, inputs_digest, inputs_of};
use stoker_state::Secrets;

use super::computed::ComputedPlan;
use super::secrets::recent_secrets;
use super::{PlanRequest, Planning, plan};
use crate::error::ServiceResult;

/// Selects what to check.
#[derive(Clone, Debug, Default)]
pub struct CheckScope {
    pub graph_type: GraphType,
    /// `None`: all nodes.
    pub nodes: Option<Vec<NodeId>>,
    /// `None`: all tasks.
    pub tasks: Option<Vec<String>>,
}

impl CheckScope {
    /// Returns the request of a plan with the same scope, to validate it.
    pub fn plan_request(&self) -> PlanRequest {
        PlanRequest {
            graph_type: self.graph_type.clone(),
            nodes: self.nodes.clone(),
            tasks: self.tasks.clone(),
            ignore_limits: true,
            ..PlanRequest::default()
        }
    }

    fn has_node(&self, uid: &str) -> bool {
        let is_selected = |nodes: &Vec<NodeId>| NodeId::parse(uid).is_some_and(|id| nodes.contains(&id));
        self.nodes.as_ref().is_none_or(is_selected)
    }

    fn has_task(&self, name: &str) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| tasks.iter().any(|task| task == name))
    }
}

/// The desired states to compare with nodes.
pub struct CheckPlan {
    computed: ComputedPlan,
    /// Secrets shared by all nodes.
    secrets: Vec<String>,
    /// Secrets of single nodes.
    own_secrets: HashMap<String, Vec<String>>,
    pub nodes: Vec<NodeCheck>,
    /// Results that need no comparison.
    pub decided: Vec<DriftResult>,
}

/// Instances to compare with one node.
#[derive(Clone, Debug)]
pub struct NodeCheck {
    pub uid: String,
    pub instances: Vec<CheckedInstance>,
}

/// A task whose last success on the node had the desired inputs.
#[derive(Clone, Debug)]
pub struct CheckedInstance {
    pub task_name: String,
    pub run_id: RunId,
    pub on_drift: OnDrift,
    task_idx: usize,
    details_idx: DetailsIdx,
}

impl CheckedInstance {
    /// The result of the comparison with the node.
    pub fn result(&self, uid: &str, status: DriftStatus, now: Micros) -> DriftResult {
        DriftResult {
            node_uid: uid.to_owned(),
            task_name: self.task_name.clone(),
            run_id: self.run_id,
            checked_at: now,
            status,
            repairs: status == DriftStatus::Drifted && self.on_drift == OnDrift::Repair,
            message: None,
            diff: Vec::new(),
        }
    }
}

/// Plans a check of the nodes of a cluster.
pub async fn plan_checks(
    planning: &Planning,
    cluster: Cluster,
    scope: CheckScope,
) -> ServiceResult<CheckPlan> {
    let cluster_id = cluster.id;
    // Without old state all inputs are rendered. The scope is applied afterwards: inputs may depend on the nodes of a
    // plan.
    let request = PlanRequest {
        graph_type: scope.graph_type.clone(),
        force: true,
        ignore_limits: true,
        ..PlanRequest::default()
    };
    let applied = planning.store.read().await?.applied_instances(cluster_id, &scope.graph_type).await?;
    let computed = Box::pin(plan(planning, cluster, request)).await?;
    let secrets = secrets(planning, cluster_id, &computed).await?;
    let (now, key) = (planning.clock.now(), planning.inputs_key);
    let build = move || {
        let digest = |task_type: &str, inputs: &Json| inputs_digest(task_type, inputs, &key).to_string();
        let Decided { nodes, decided } = decide(&computed, &scope, applied, &digest, now);
        let own = computed.nodes.iter().map(|(uid, own)| (uid, Secrets::from_documents([own.content()])));
        let own = own.filter(|(_, secrets)| !secrets.is_empty());
        let own = own.map(|(uid, secrets)| (uid.clone(), secrets.values().map(str::to_owned).collect()));
        CheckPlan { own_secrets: own.collect(), secrets, nodes, decided, computed }
    };
    planning.plans.compute_for(cluster_id.0, build).await
}

/// Returns the secrets of this and recent states: a file that differs may contain an earlier password.
async fn secrets(
    planning: &Planning,
    cluster: ClusterId,
    computed: &ComputedPlan,
) -> ServiceResult<Vec<String>> {
    let recent = recent_secrets(&mut planning.store.snapshot().await?, cluster, None).await?;
    let all = recent.union(Secrets::from_documents([computed.common.content()]));
    Ok(all.values().map(str::to_owned).collect())
}

#[derive(Default)]
struct Decided {
    nodes: Vec<NodeCheck>,
    decided: Vec<DriftResult>,
}

fn decide(
    computed: &ComputedPlan,
    scope: &CheckScope,
    applied: Vec<AppliedInstances>,
    digest: &dyn Fn(&str, &Json) -> String,
    now: Micros,
) -> Decided {
    let plan = &computed.explained.plan;
    let tasks: HashMap<&str, usize> =
        plan.tasks.iter().enumerate().map(|(idx, task)| (task.name.as_str(), idx)).collect();
    let offline: HashSet<&str> = computed
        .explained
        .excluded
        .iter()
        .filter(|node| node.reason == NODE_OFFLINE)
        .map(|node| node.uid.as_str())
        .collect();
    let mut decided = Vec::new();
    let mut by_node: BTreeMap<String, Vec<CheckedInstance>> = BTreeMap::new();
    let mut last: Option<PlannedInputs<'_>> = None;
    for group in applied.into_iter().filter(|group| scope.has_task(&group.task_name)) {
        let Some(task_idx) = tasks.get(group.task_name.as_str()).copied() else { continue };
        let Some(on_drift) = on_drift(computed, &group.task_name) else { continue };
        // Groups are sorted by task.
        if last.as_ref().is_none_or(|last| last.task_idx != task_idx) {
            last = Some(PlannedInputs::new(computed, task_idx));
        }
        let Some(planned) = &mut last else { continue };
        for uid in group.nodes.into_iter().filter(|uid| scope.has_node(uid)) {
            let mut instance = CheckedInstance {
                task_name: group.task_name.clone(),
                run_id: group.run_id,
                on_drift,
                task_idx,
                details_idx: DetailsIdx::at(0),
            };
            let unknown = |instance: &CheckedInstance, why: &str| DriftResult {
                message: Some(why.to_owned()),
                ..instance.result(&uid, DriftStatus::Unknown, now)
            };
            match planned.details_of.get(uid.as_str()).copied() {
                // A task with a false condition has no desired state.
                None if !offline.contains(uid.as_str()) || !planned.describes_state => {}
                None => decided.push(unknown(&instance, NODE_OFFLINE)),
                Some(details_idx) if !planned.can_compare(details_idx) => {}
                Some(_) if group.inputs.is_none() => {
                    decided.push(unknown(&instance, "the inputs of its last success are not recorded"));
                }
                Some(details_idx) => {
                    instance.details_idx = details_idx;
                    if planned.digest(details_idx, digest) == group.inputs.as_deref() {
                        by_node.entry(uid).or_default().push(instance);
                    } else {
                        decided.push(instance.result(&uid, DriftStatus::Changed, now));
                    }
                }
            }
        }
    }
    let nodes = by_node.into_iter().map(|(uid, instances)| NodeCheck { uid, instances });
    Decided { nodes: nodes.collect(), decided }
}

/// Returns what the drift of a task causes; `None` if it is not checked.
fn on_drift(computed: &ComputedPlan, task: &str) -> Option<OnDrift> {
    let written = computed.graph.content().get(task).and_then(|fields| fields.get("on_drift"));
    let on_drift = written.and_then(Json::as_str).and_then(OnDrift::parse).unwrap_or(OnDrift::Repair);
    (on_drift != OnDrift::Ignore).then_some(on_drift)
}

/// The rendered inputs of the instances of one task.
struct PlannedInputs<'m> {
    computed: &'m ComputedPlan,
    task_idx: usize,
    /// Index of the details by node, for instances that have a desired state.
    details_of: HashMap<&'m str, DetailsIdx>,
    /// Whether the type of the task, as written, describes a state.
    describes_state: bool,
    digests: HashMap<DetailsIdx, String>,
}

impl<'m> PlannedInputs<'m> {
    fn new(computed: &'m ComputedPlan, task_idx: usize) -> Self {
        let plan = &computed.explained.plan;
        let task = &plan.tasks[task_idx];
        let with_details = plan.instances_of(task).filter_map(|instance| {
            let details_idx = plan.details_idx(instance.idx)?;
            task.details.get(details_idx.index())?;
            Some((instance.node, details_idx))
        });
        let written = computed.graph.content().get(&task.name).and_then(|fields| fields.get("type"));
        let written = written.and_then(Json::as_str);
        Self {
            computed,
            task_idx,
            details_of: with_details.collect(),
            describes_state: written.is_some_and(stoker_tasks::describes_state),
            digests: HashMap::new(),
        }
    }

    fn can_compare(&self, details_idx: DetailsIdx) -> bool {
        let details = self.task().details.get(details_idx.index());
        details.is_some_and(|details| stoker_tasks::describes_state(&details.task_type))
    }

    fn digest(&mut self, details_idx: DetailsIdx, digest: &dyn Fn(&str, &Json) -> String) -> Option<&str> {
        let task = &self.computed.explained.plan.tasks[self.task_idx];
        let details = task.details.get(details_idx.index())?;
        let entry = self.digests.entry(details_idx);
        let text = entry.or_insert_with(|| match steady(self.computed, &task.name, details_idx) {
            Some(inputs) => digest(&details.task_type, inputs),
            None => digest(&details.task_type, &inputs_of(&details.parameters)),
        });
        Some(text)
    }

    fn task(&self) -> &'m PlannedTask {
        &self.computed.explained.plan.tasks[self.task_idx]
    }
}

/// Inputs of the state after a run, where they differ from the parameters.
fn steady<'m>(computed: &'m ComputedPlan, task: &str, details_idx: DetailsIdx) -> Option<&'m Json> {
    computed.extras.steady.get(task)?.get(&details_idx.get())
}

impl CheckPlan {
    /// Task type and parameters of an instance.
    pub fn item(&self, instance: &CheckedInstance) -> Option<(String, Json)> {
        let task = &self.computed.explained.plan.tasks[instance.task_idx];
        let details = task.details.get(instance.details_idx.index())?;
        let mut parameters = match steady(&self.computed, &task.name, instance.details_idx) {
            Some(inputs) => inputs.clone(),
            None => details.parameters.clone(),
        };
        if let Json::Object(map) = &mut parameters {
            // Digests of files, which are an input and no parameter.
            map.remove("$files");
        }
        Some((details.task_type.clone(), parameters))
    }

    /// Secrets to mask in reports of a node.
    pub fn secrets(&self, uid: &str) -> Vec<String> {
        self.secrets.iter().chain(self.own_secrets.get(uid).into_iter().flatten()).cloned().collect()
    }
}
