//! Tasks by nodes, a window at a time: what is on a screen is what is sent.

use std::collections::HashSet;

use serde::Serialize;
use stoker_model::{ClusterId, NodeId};
use stoker_planner::{Action, Instance, Plan, PlannedTask};
use stoker_store::Session;
use utoipa::ToSchema;

use crate::http::error::ApiResult;
use crate::http::query::Query;

/// Where there is no instance.
const NOTHING: char = '.';
const LIMIT_DEFAULT: u64 = 200;
const LIMIT_MAX: u64 = 2000;

/// A window of a plan or a run: tasks in the order in which they come up, by nodes.
#[derive(Serialize, ToSchema)]
#[schema(as = Matrix)]
pub(crate) struct MatrixView {
    /// How many there are of each, of which the window shows some.
    n_tasks: u64,
    n_nodes: u64,
    pub(crate) tasks: Vec<String>,
    pub(crate) nodes: Vec<String>,
    /// How the nodes are called, in the same order; what is no node, or gone, by what it is called in the plan.
    names: Vec<String>,
    /// For each task a text with a letter for each node: `p` pending or to be run, `r` running, `s` success, `k`
    /// skipped, `f` failed, `b` blocked, `t` stopped, `i` interrupted, and `.` where the task is not.
    pub(crate) cells: Vec<String>,
}

/// What of it is wanted.
pub(crate) struct Window {
    first_task: usize,
    n_tasks: usize,
    first_node: usize,
    n_nodes: usize,
    search: Option<String>,
    nodes: Option<HashSet<String>>,
    runs_only: bool,
}

impl Window {
    pub(crate) fn read(query: &mut Query) -> Self {
        let limit = |given: Option<u64>| given.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX) as usize;
        Self {
            first_task: query.natural("task_offset").unwrap_or(0) as usize,
            n_tasks: limit(query.natural("task_limit")),
            first_node: query.natural("node_offset").unwrap_or(0) as usize,
            n_nodes: limit(query.natural("node_limit")),
            search: query.text("search").map(str::to_lowercase),
            nodes: query.list("nodes").map(|names| names.into_iter().collect()),
            runs_only: query.boolean("runs_only"),
        }
    }

    fn has(&self, instance: &Instance<'_>) -> bool {
        (!self.runs_only || instance.verdict.action() == Action::Run)
            && self.nodes.as_ref().is_none_or(|nodes| nodes.contains(instance.node))
    }

    /// `letter` says what an instance is.
    pub(crate) fn of(&self, plan: &Plan, letter: impl Fn(&Instance<'_>) -> char) -> MatrixView {
        let is_found = |task: &&PlannedTask| {
            self.search.as_ref().is_none_or(|wanted| task.name.to_lowercase().contains(wanted))
        };
        let mut tasks: Vec<&PlannedTask> = plan
            .tasks
            .iter()
            .filter(is_found)
            .filter(|task| plan.instances_of(task).any(|instance| self.has(&instance)))
            .collect();
        let ranks = ranks(plan);
        tasks.sort_by_key(|task| (ranks.get(task.first as usize), &task.name));
        let mut is_used = vec![false; plan.nodes.len()];
        for task in &tasks {
            for (instance, node_idx) in plan.instances_of(task).zip(&*task.nodes) {
                is_used[*node_idx as usize] |= self.has(&instance);
            }
        }
        let used: Vec<usize> = (0..plan.nodes.len()).filter(|idx| is_used[*idx]).collect();
        let (n_tasks, n_nodes) = (tasks.len() as u64, used.len() as u64);
        let columns: Vec<usize> = used.into_iter().skip(self.first_node).take(self.n_nodes).collect();
        let mut place = vec![None; plan.nodes.len()];
        columns.iter().enumerate().for_each(|(column, idx)| place[*idx] = Some(column));
        let tasks: Vec<&PlannedTask> = tasks.into_iter().skip(self.first_task).take(self.n_tasks).collect();
        let row = |task: &&PlannedTask| {
            let mut cells = vec![NOTHING; columns.len()];
            for (instance, node_idx) in plan.instances_of(task).zip(&*task.nodes) {
                if let Some(column) = place[*node_idx as usize] {
                    cells[column] = letter(&instance);
                }
            }
            cells.into_iter().collect::<String>()
        };
        let nodes: Vec<String> = columns.iter().map(|idx| plan.nodes[*idx].clone()).collect();
        MatrixView {
            n_tasks,
            n_nodes,
            cells: tasks.iter().map(row).collect(),
            tasks: tasks.iter().map(|task| task.name.clone()).collect(),
            names: nodes.clone(),
            nodes,
        }
    }
}

impl MatrixView {
    /// Says how its nodes are called today.
    pub(crate) async fn name(&mut self, session: &mut Session, cluster: ClusterId) -> ApiResult<()> {
        let id = |uid: &String| uid.parse().ok().map(NodeId);
        let ids: Vec<NodeId> = self.nodes.iter().filter_map(id).collect();
        let mut found = session.node_names(cluster, &ids).await?;
        for (name, uid) in self.names.iter_mut().zip(&self.nodes) {
            if let Some(known) = id(uid).and_then(|id| found.remove(&id)) {
                *name = known;
            }
        }
        Ok(())
    }
}

/// For each instance the length of the longest way to it.
fn ranks(plan: &Plan) -> Vec<u32> {
    let order = plan.order();
    let mut ranks = vec![0; order.n_vertices()];
    // A stored plan was checked for cycles; one with them would be shown by name.
    for vertex in order.topological_order().unwrap_or_default() {
        let next = ranks[vertex as usize] + 1;
        for target in order.targets(vertex) {
            let rank = &mut ranks[*target as usize];
            *rank = next.max(*rank);
        }
    }
    ranks
}
