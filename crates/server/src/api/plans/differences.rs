//! Changes of a plan: which instances run, why, and what changes in their inputs.

use std::collections::HashMap;

use axum::extract::State;
use stoker_api_types::plans::InputChangeView;
use stoker_planner::{ExplainedPlan, Instance, InstanceAction, PlanExtras};
use stoker_services::planning::StoredPlan;
use stoker_store::{List, Page};

use super::access::read_plan;
use super::instances::{LIMIT_DEFAULT, LIMIT_MAX, render_difference};
use super::view::NODES_MAX;
use crate::access::caller::Authenticated;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

/// List the changes of a plan
///
/// Returns the instances that run, grouped by task, reason and change of their inputs: their parameters as rendered, with
/// secrets masked. Inputs that only affect scheduling, such as timeouts, are not compared.
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/differences",
    params(
        ("id" = i64, Path),
        ("limit" = Option<u64>, Query, description = "Maximum number of groups to return (default 100, maximum 10,000)"),
        ("offset" = Option<u64>, Query, description = "Number of groups to skip"),
    ),
    responses((status = 200, body = [InputChangeView]))
)]
pub(super) async fn plan_difference_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<InputChangeView>>> {
    let limit = query.natural("limit").unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
    let list =
        List { limit: Some(limit), offset: query.natural("offset").unwrap_or(0), order_by: Vec::new() };
    query.finish()?;
    let plan = read_plan(&app, &login, &path).await?;
    let mut session = app.store.read().await?;
    let extras = StoredPlan::extras(&app.services.planning, &mut session, plan.record.id).await?;
    drop(session);
    let (offset, limit) = (list.offset as usize, limit as usize);
    let build = move || {
        let groups = groups(&plan.explained, &extras);
        let views = groups.iter().skip(offset).take(limit);
        let items = views.map(|group| render_group(group, &plan.explained, &extras)).collect();
        Page { items, total: groups.len() as u64 }
    };
    let page = app.services.planning.plans.compute(build).await?;
    ApiResponse::page(&list, page, |view| view)
}

/// Instances of one task with equal reason and change of inputs.
struct Group<'p> {
    first: Instance<'p>,
    change_idx: Option<u32>,
    /// The first nodes.
    nodes: Vec<&'p str>,
    n_nodes: u64,
}

/// Groups the instances that run, by task and in order of their first node.
fn groups<'p>(explained: &'p ExplainedPlan, extras: &PlanExtras) -> Vec<Group<'p>> {
    let mut groups: Vec<Group<'p>> = Vec::new();
    for task in &explained.plan.tasks {
        let mut group_of: HashMap<(Option<u32>, Option<u32>), usize> = HashMap::new();
        for instance in explained.plan.instances_of(task) {
            if instance.verdict.action() != InstanceAction::Run {
                continue;
            }
            let change_idx = extras.change_idx(instance.idx);
            let key = (explained.reasons.explanation_idx(instance.idx), change_idx);
            let group_idx = *group_of.entry(key).or_insert_with(|| {
                groups.push(Group { first: instance, change_idx, nodes: Vec::new(), n_nodes: 0 });
                groups.len() - 1
            });
            let group = &mut groups[group_idx];
            group.n_nodes += 1;
            if group.nodes.len() < NODES_MAX {
                group.nodes.push(instance.node);
            }
        }
    }
    groups
}

fn render_group(group: &Group<'_>, explained: &ExplainedPlan, extras: &PlanExtras) -> InputChangeView {
    let change = group.change_idx.and_then(|change_idx| extras.changes.get(change_idx as usize));
    let reason = explained.reasons.of(group.first.idx);
    InputChangeView {
        task: group.first.task.to_owned(),
        nodes: group.nodes.iter().map(|uid| (*uid).to_owned()).collect(),
        n_nodes: group.n_nodes,
        reason: reason.map_or_else(|| group.first.verdict.to_string(), ToString::to_string),
        is_first: change.is_some_and(|change| change.is_first),
        differences: change
            .map(|change| change.differences.iter().map(render_difference).collect())
            .unwrap_or_default(),
        n_differences: change.map_or(0, |change| change.n_differences),
    }
}
