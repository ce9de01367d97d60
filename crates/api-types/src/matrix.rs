//! Matrix of tasks by nodes, of a plan or a run.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Page of a matrix of task instances. Rows are tasks in topological order, columns are nodes.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Matrix)]
pub struct MatrixView {
    /// Total number of tasks that match the filters; `tasks` contains one page of them.
    pub n_tasks: u64,
    /// Total number of nodes with a matching task instance; `nodes` contains one page of them.
    pub n_nodes: u64,
    /// Names of the tasks on this page.
    pub tasks: Vec<String>,
    /// UIDs of the nodes on this page.
    pub nodes: Vec<String>,
    /// Current names of the nodes, in the order of `nodes`. Pseudo-nodes and deleted nodes have no name; the
    /// list contains their UID instead.
    pub names: Vec<String>,
    /// One string per task with one character per node: `p` pending or to be run, `h` a handler to be run only
    /// if triggered (plans only), `r` running, `s` success, `k` skipped, `f` failed, `b` blocked, `t` stopped,
    /// `i` interrupted, `.` no instance.
    pub cells: Vec<String>,
}
