//! Paginated matrix of tasks by nodes, shared by plans and runs. A client requests the rows and columns that
//! it displays.

use std::collections::HashSet;

use stoker_api_types::matrix::MatrixView;
use stoker_model::{ClusterId, NodeId};
use stoker_planner::{Instance, InstanceAction, Plan, PlannedTask};
use stoker_store::Session;

use crate::http::error::ApiResult;
use crate::http::query::Query;

/// Cell of a task that has no instance on the node.
const NO_INSTANCE: char = '.';
const LIMIT_DEFAULT: u64 = 200;
const LIMIT_MAX: u64 = 2000;

/// Requested page and filters.
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
        let limit = |requested: Option<u64>| requested.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX) as usize;
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
        (!self.runs_only || instance.verdict.action() == InstanceAction::Run)
            && self.nodes.as_ref().is_none_or(|nodes| nodes.contains(instance.node))
    }

    /// Builds the page. `letter` returns the cell of an instance.
    pub(crate) fn of(&self, plan: &Plan, letter: impl Fn(&Instance<'_>) -> char) -> MatrixView {
        let matches_search = |task: &&PlannedTask| {
            self.search.as_ref().is_none_or(|search| task.name.to_lowercase().contains(search))
        };
        let mut tasks: Vec<&PlannedTask> = plan
            .tasks
            .iter()
            .filter(matches_search)
            .filter(|task| plan.instances_of(task).any(|instance| self.has(&instance)))
            .collect();
        let ranks = ranks(plan);
        tasks.sort_by_key(|task| (ranks.get(task.first.index()), &task.name));
        let mut is_used = vec![false; plan.nodes.len()];
        for task in &tasks {
            for (instance, node_idx) in plan.instances_of(task).zip(&*task.nodes) {
                is_used[node_idx.index()] |= self.has(&instance);
            }
        }
        let used: Vec<usize> = (0..plan.nodes.len()).filter(|idx| is_used[*idx]).collect();
        let (n_tasks, n_nodes) = (tasks.len() as u64, used.len() as u64);
        let columns: Vec<usize> = used.into_iter().skip(self.first_node).take(self.n_nodes).collect();
        let mut column_of = vec![None; plan.nodes.len()];
        columns.iter().enumerate().for_each(|(column, idx)| column_of[*idx] = Some(column));
        let tasks: Vec<&PlannedTask> = tasks.into_iter().skip(self.first_task).take(self.n_tasks).collect();
        let row = |task: &&PlannedTask| {
            let mut cells = vec![NO_INSTANCE; columns.len()];
            for (instance, node_idx) in plan.instances_of(task).zip(&*task.nodes) {
                if let Some(column) = column_of[node_idx.index()] {
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

/// Replaces UIDs in `names` with the current names of the nodes.
pub(crate) async fn resolve_names(
    matrix: &mut MatrixView,
    session: &mut Session,
    cluster: ClusterId,
) -> ApiResult<()> {
    let id = |uid: &String| uid.parse().ok().map(NodeId);
    let ids: Vec<NodeId> = matrix.nodes.iter().filter_map(id).collect();
    let mut names = session.node_names(cluster, &ids).await?;
    for (name, uid) in matrix.names.iter_mut().zip(&matrix.nodes) {
        if let Some(current) = id(uid).and_then(|id| names.remove(&id)) {
            *name = current;
        }
    }
    Ok(())
}

/// Returns the length of the longest dependency chain before each instance.
fn ranks(plan: &Plan) -> Vec<u32> {
    let order = plan.order();
    let mut ranks = vec![0; order.n_vertices()];
    // Stored plans are acyclic. A corrupt plan has no topological order: all ranks are 0, and tasks are
    // sorted by name.
    for vertex in order.topological_order().unwrap_or_default() {
        let next = ranks[vertex as usize] + 1;
        for target in order.targets(vertex) {
            let rank = &mut ranks[*target as usize];
            *rank = next.max(*rank);
        }
    }
    ranks
}
