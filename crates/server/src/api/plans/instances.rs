//! Task instances of a plan. Paginated: a plan may have a million of them.

use std::collections::HashSet;

use axum::extract::State;
use stoker_api_types::plans::{DifferenceView, InstanceView};
use stoker_planner::{Difference, ExplainedPlan, Instance, InstanceAction};
use stoker_services::planning::PlanSecrets;
use stoker_store::{List, Page};

use super::access::read_plan;
use super::view::word;
use crate::access::caller::Authenticated;
use crate::api::drift::latest_results;
use crate::http::error::ApiResult;
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) const LIMIT_DEFAULT: u64 = 100;
pub(super) const LIMIT_MAX: u64 = 10_000;

pub(super) fn render_difference(difference: &Difference) -> DifferenceView {
    DifferenceView { path: difference.path.clone(), old: difference.old.clone(), new: difference.new.clone() }
}

/// Requested filters.
struct Filter {
    tasks: Option<HashSet<String>>,
    nodes: Option<HashSet<String>>,
    actions: Option<Vec<InstanceAction>>,
}

impl Filter {
    fn read(query: &mut Query) -> Self {
        let set = |names: Option<Vec<String>>| names.map(|names| names.into_iter().collect());
        let parse = |word: &str| match word {
            "run" => Some(InstanceAction::Run),
            "skip" => Some(InstanceAction::Skip),
            _ => None,
        };
        Self {
            tasks: set(query.list("task")),
            nodes: set(query.list("node")),
            actions: query.words("action", parse, &["run", "skip"]),
        }
    }

    fn has(&self, instance: &Instance<'_>) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| tasks.contains(instance.task))
            && self.nodes.as_ref().is_none_or(|nodes| nodes.contains(instance.node))
            && self.actions.as_ref().is_none_or(|actions| actions.contains(&instance.verdict.action()))
    }
}

/// List the task instances of a plan
///
/// Returns for each task instance whether it runs, and why.
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/instances",
    params(
        ("id" = i64, Path),
        ("task" = Option<String>, Query, description = "Filter by task, comma-separated"),
        ("node" = Option<String>, Query, description = "Filter by node, comma-separated"),
        ("action" = Option<String>, Query, description = "Filter by action: `run` or `skip`"),
        ("parameters" = Option<String>, Query, description = "1: include the parameters of the executor, with secrets masked"),
        ("limit" = Option<u64>, Query, description = "Maximum number of instances to return (default 100, maximum 10,000)"),
        ("offset" = Option<u64>, Query, description = "Number of instances to skip"),
    ),
    responses((status = 200, body = [InstanceView]))
)]
pub(super) async fn plan_instance_list(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<ApiResponse<Vec<InstanceView>>> {
    let filter = Filter::read(&mut query);
    let with_parameters = query.boolean("parameters");
    let limit = query.natural("limit").unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
    let list =
        List { limit: Some(limit), offset: query.natural("offset").unwrap_or(0), order_by: Vec::new() };
    query.finish()?;
    let plan = read_plan(&app, &login, &path).await?;
    let (record, page_list) = (plan.record, list.clone());
    let build = move || page(&plan.explained, &filter, &page_list, with_parameters);
    let mut page = app.services.planning.plans.compute(build).await?;
    if with_parameters {
        let nodes = page.items.iter().map(|item| item.node.clone()).collect();
        let secrets = PlanSecrets::read(&mut app.store.read().await?, &record, &nodes).await?;
        page = app.services.planning.plans.compute(move || mask(page, &secrets)).await?;
    }
    let instances = page.items.iter().map(|item| (item.task.as_str(), item.node.as_str()));
    let mut drift = latest_results(&mut app.store.read().await?, &record, instances).await?;
    for item in &mut page.items {
        item.drift = drift.remove(&(item.task.clone(), item.node.clone()));
    }
    ApiResponse::page(&list, page, |view| view)
}

fn mask(mut page: Page<InstanceView>, secrets: &PlanSecrets) -> Page<InstanceView> {
    for item in &mut page.items {
        if let Some(parameters) = &mut item.parameters {
            secrets.mask(&item.node, parameters);
        }
    }
    page
}

fn page(
    explained: &ExplainedPlan,
    filter: &Filter,
    list: &List,
    with_parameters: bool,
) -> Page<InstanceView> {
    let (first, limit) = (list.offset, list.limit.unwrap_or(LIMIT_DEFAULT));
    let mut page = Page { items: Vec::new(), total: 0 };
    for instance in explained.plan.instances().filter(|instance| filter.has(instance)) {
        if page.total >= first && page.total - first < limit {
            page.items.push(view(explained, &instance, with_parameters));
        }
        page.total += 1;
    }
    page
}

fn view(explained: &ExplainedPlan, instance: &Instance<'_>, with_parameters: bool) -> InstanceView {
    let details = explained.plan.details(instance.idx);
    let reason = explained.reasons.of(instance.idx);
    InstanceView {
        task: instance.task.to_owned(),
        node: instance.node.to_owned(),
        task_type: details.map(|details| details.task_type.clone()),
        action: instance.verdict.action().as_str().to_owned(),
        verdict: word(instance.verdict),
        reason: reason.map_or_else(|| instance.verdict.to_string(), ToString::to_string),
        decided_by: reason.map(|reason| reason.decided_by.clone()).unwrap_or_default(),
        differences: reason
            .map(|reason| reason.differences.iter().map(render_difference).collect())
            .unwrap_or_default(),
        parameters: details.filter(|_| with_parameters).map(|details| details.parameters.clone()),
        drift: None,
    }
}
