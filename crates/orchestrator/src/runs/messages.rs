//! Messages about plans: excluded nodes, and defects that prevent a run.

use stoker_engine::blueprint::Defect;
use stoker_planner::{ExcludedNode, NODE_OFFLINE, Plan};
use stoker_services::planning;
use stoker_services::{ServiceError, ServiceResult};

use super::request::RunOptions;

/// Maximum number of nodes listed by UID; further nodes are counted.
const NODES_TOLD: usize = 5;
/// Maximum number of reasons in a message.
const TOLD_MAX: usize = 20;

/// Message about nodes that were offline at planning time, so that the run is not mistaken for complete.
pub(super) fn excluded_nodes_message(excluded: &[ExcludedNode]) -> Option<String> {
    let away = excluded.iter().filter(|node| node.reason == NODE_OFFLINE);
    let uids: Vec<&str> = away.map(|node| node.uid.as_str()).collect();
    let told = uids[..uids.len().min(NODES_TOLD)].join(", ");
    match uids.len() {
        0 => None,
        1 => Some(format!("Node {told} is not online and took no part")),
        n_nodes if n_nodes <= NODES_TOLD => Some(format!("Nodes {told} are not online and took no part")),
        n_nodes => {
            Some(format!("Nodes {told} and {} more are not online and took no part", n_nodes - NODES_TOLD))
        }
    }
}

/// Rejects a plan with tasks that agents would refuse. Tasks whose failure is ignored, dry runs and noop runs
/// are exempt.
pub(super) fn require_executable(plan: &Plan, run_options: &RunOptions) -> ServiceResult<()> {
    let unfit = planning::unfit(plan, |details| details.fail_on_error && run_options.is_real());
    if unfit.is_empty() {
        return Ok(());
    }
    let told: Vec<String> =
        unfit.iter().take(TOLD_MAX).map(|(task, message)| format!("task `{task}`: {message}")).collect();
    Err(ServiceError::invalid(format!("the plan cannot be run: {}", told.join("; "))))
}

pub(super) fn refused(defects: &[Defect]) -> ServiceError {
    let told: Vec<String> = defects.iter().take(TOLD_MAX).map(ToString::to_string).collect();
    ServiceError::invalid(format!("the plan cannot be run: {}", told.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offline_nodes_are_listed_or_counted() {
        let told = |n_away: usize| {
            let away = (1..=n_away).map(|uid| (uid.to_string(), NODE_OFFLINE));
            let all = [("99".to_owned(), "it was not asked for")].into_iter().chain(away);
            let excluded: Vec<ExcludedNode> =
                all.map(|(uid, why)| ExcludedNode { uid, reason: why.to_owned() }).collect();
            excluded_nodes_message(&excluded)
        };
        assert_eq!(told(0), None);
        assert_eq!(told(1).as_deref(), Some("Node 1 is not online and took no part"));
        assert_eq!(told(2).as_deref(), Some("Nodes 1, 2 are not online and took no part"));
        let many = "Nodes 1, 2, 3, 4, 5 and 2 more are not online and took no part";
        assert_eq!(told(7).as_deref(), Some(many));
    }
}
