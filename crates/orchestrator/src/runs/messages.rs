//! Messages about plans: excluded nodes, and defects that prevent a run.

use stoker_engine::blueprint::Defect;
use stoker_planner::{ExcludedNode, NODE_OFFLINE, Plan};
use stoker_services::planning;
use stoker_services::runs::RunOptions;
use stoker_services::{ServiceError, ServiceResult};

/// Maximum number of nodes listed by UID; further nodes are counted.
const NODES_LISTED_MAX: usize = 5;
/// Maximum number of reasons in a message.
const REASONS_MAX: usize = 20;

/// Message about nodes that were offline at planning time, so that the run is not mistaken for complete.
pub(super) fn excluded_nodes_message(excluded: &[ExcludedNode]) -> Option<String> {
    let away = excluded.iter().filter(|node| node.reason == NODE_OFFLINE);
    let uids: Vec<&str> = away.map(|node| node.uid.as_str()).collect();
    let listed = uids[..uids.len().min(NODES_LISTED_MAX)].join(", ");
    match uids.len() {
        0 => None,
        1 => Some(format!("Node {listed} is offline and was left out of the run")),
        n_nodes if n_nodes <= NODES_LISTED_MAX => {
            Some(format!("Nodes {listed} are offline and were left out of the run"))
        }
        n_nodes => Some(format!(
            "Nodes {listed} and {} more are offline and were left out of the run",
            n_nodes - NODES_LISTED_MAX
        )),
    }
}

/// Rejects a plan with tasks that agents would refuse. Tasks whose failure is ignored, dry runs and noop runs
/// are exempt.
pub(super) fn require_executable(plan: &Plan, run_options: &RunOptions) -> ServiceResult<()> {
    let unfit = planning::unfit(plan, |details| details.fail_on_error && run_options.is_real());
    if unfit.is_empty() {
        return Ok(());
    }
    let listed: Vec<String> =
        unfit.iter().take(REASONS_MAX).map(|(task, message)| format!("task `{task}`: {message}")).collect();
    Err(ServiceError::invalid(format!("cannot run the plan: {}", listed.join("; "))))
}

pub(super) fn refused(defects: &[Defect]) -> ServiceError {
    let listed: Vec<String> = defects.iter().take(REASONS_MAX).map(ToString::to_string).collect();
    ServiceError::invalid(format!("cannot run the plan: {}", listed.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offline_nodes_are_listed_or_counted() {
        let listed = |n_away: usize| {
            let away = (1..=n_away).map(|uid| (uid.to_string(), NODE_OFFLINE));
            let all = [("99".to_owned(), "it was not asked for")].into_iter().chain(away);
            let excluded: Vec<ExcludedNode> =
                all.map(|(uid, why)| ExcludedNode { uid, reason: why.to_owned() }).collect();
            excluded_nodes_message(&excluded)
        };
        assert_eq!(listed(0), None);
        assert_eq!(listed(1).as_deref(), Some("Node 1 is offline and was left out of the run"));
        assert_eq!(listed(2).as_deref(), Some("Nodes 1, 2 are offline and were left out of the run"));
        let many = "Nodes 1, 2, 3, 4, 5 and 2 more are offline and were left out of the run";
        assert_eq!(listed(7).as_deref(), Some(many));
    }
}
