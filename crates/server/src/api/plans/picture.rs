//! Diagrams of a plan.

use axum::extract::State;
use axum::response::Response;
use stoker_model::{ErrorChain, Json, JsonMap, Task};
use stoker_pictures::{
    Appearance, DefinitionFilter, Diagram, Dot, FilterError, Mermaid, Svg, draw_definitions,
};
use stoker_planner::{Instance, InstanceAction, InstanceFilter, Plan, UnknownNames, draw_plan};
use stoker_services::planning::StoredPlan;

use super::access::require_plan;
use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::http::path::PathParams;
use crate::http::query::Query;
use crate::http::response::text_response;
use crate::state::App;

pub(super) const DOT: &str = "text/vnd.graphviz";
const SVG: &str = "image/svg+xml";
const MERMAID: &str = "text/vnd.mermaid";
/// Media types of diagrams, including the types that browsers request, so that a diagram can be opened by its
/// URL.
pub(super) const TYPES: &[&str] = &[SVG, DOT, MERMAID, "text/html", "image/*"];

/// Maximum number of vertices in Graphviz and Mermaid diagrams; larger diagrams are unreadable. An SVG
/// contains fewer vertices and reports the number of omitted ones.
const VERTICES_MAX: usize = 20_000;

#[derive(Clone, Copy)]
enum Format {
    Dot,
    Svg,
    Mermaid,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Graph {
    Instances,
    Tasks,
}

struct DiagramRequest {
    format: Format,
    graph: Graph,
    tasks: Vec<String>,
    nodes: Vec<String>,
    parents_of: Option<String>,
    runs_only: bool,
}

impl DiagramRequest {
    fn read(query: &mut Query) -> Self {
        let format = |word: &str| match word {
            "dot" => Some(Format::Dot),
            "svg" => Some(Format::Svg),
            "mermaid" => Some(Format::Mermaid),
            _ => None,
        };
        let graph = |word: &str| match word {
            "instances" => Some(Graph::Instances),
            "tasks" => Some(Graph::Tasks),
            _ => None,
        };
        let formats = query.words("format", format, &["dot", "svg", "mermaid"]);
        let graphs = query.words("graph", graph, &["instances", "tasks"]);
        let request = Self {
            format: formats.and_then(|formats| formats.first().copied()).unwrap_or(Format::Svg),
            graph: graphs.and_then(|graphs| graphs.first().copied()).unwrap_or(Graph::Instances),
            tasks: query.list("task").unwrap_or_default(),
            nodes: query.list("node").unwrap_or_default(),
            parents_of: query.text("parents_of").map(str::to_owned),
            runs_only: query.boolean("runs_only"),
        };
        if request.graph == Graph::Tasks && (request.runs_only || !request.nodes.is_empty()) {
            query.problem("graph", "`node` and `runs_only` cannot be combined with `graph=tasks`");
        }
        request
    }

    fn drawing(&self, plan: &Plan, graph: JsonMap) -> Result<Diagram, PictureError> {
        if self.graph == Graph::Tasks {
            let selected = (!self.tasks.is_empty()).then(|| self.tasks.clone());
            let filter = DefinitionFilter {
                tasks: selected,
                parents_for: self.parents_of.clone(),
                remove: Vec::new(),
            };
            return Ok(draw_definitions(&tasks(graph), &filter)?);
        }
        let filter = InstanceFilter {
            tasks: self.tasks.clone(),
            nodes: self.nodes.clone(),
            parents_of: self.parents_of.clone(),
            running_only: self.runs_only,
            // One more vertex than the maximum, so that `draw` detects the excess.
            n_max: Some(VERTICES_MAX + 1),
        };
        Ok(draw_plan(plan, &filter, &|instance: &Instance<'_>| match instance.verdict.action() {
            InstanceAction::Run => Appearance::Pending,
            InstanceAction::Skip => Appearance::WillSkip,
        })?)
    }

    fn draw(&self, drawing: &Diagram) -> Result<Response, PictureError> {
        let n_vertices = drawing.vertices.len();
        match self.format {
            Format::Svg => Ok(text_response(SVG, Svg(drawing).to_string())),
            _ if n_vertices > VERTICES_MAX => Err(PictureError::TooLarge { n_vertices }),
            Format::Dot => Ok(text_response(DOT, Dot(drawing).to_string())),
            Format::Mermaid => Ok(text_response(MERMAID, Mermaid(drawing).to_string())),
        }
    }
}

/// Why a request cannot be drawn.
#[derive(Debug, thiserror::Error)]
enum PictureError {
    #[error(transparent)]
    Tasks(#[from] FilterError),
    #[error(transparent)]
    Instances(#[from] UnknownNames),
    #[error(
        "{n_vertices} task instances are too many for a diagram; filter with `task`, `node`, `parents_of` or `runs_only`"
    )]
    TooLarge { n_vertices: usize },
}

/// Returns the tasks of a stored graph.
fn tasks(graph: JsonMap) -> Vec<Task> {
    let task = |(name, fields): (String, Json)| match fields {
        Json::Object(fields) => Some(Task { name, fields }),
        _ => None,
    };
    graph.into_iter().filter_map(task).collect()
}

/// Draw a plan
///
/// Returns a diagram of the task instances and their dependencies, coloured by planned action.
#[utoipa::path(
    get, path = "/api/v1/plans/{id}/picture",
    params(
        ("id" = i64, Path),
        ("format" = Option<String>, Query, description = "Diagram format: `svg` (default), `dot` or `mermaid`"),
        ("graph" = Option<String>, Query,
            description = "Vertices: `instances` (default) for task instances, `tasks` for task definitions"),
        ("task" = Option<String>, Query,
            description = "Filter by task, comma-separated; with `graph=tasks` other tasks are drawn as skipped"),
        ("node" = Option<String>, Query, description = "Filter by node, comma-separated"),
        ("parents_of" = Option<String>, Query, description = "Draw only this task and its direct predecessors"),
        ("runs_only" = Option<String>, Query, description = "1: draw only instances that run"),
    ),
    responses((status = 200, content(
        (String = "image/svg+xml"), (String = "text/vnd.graphviz"), (String = "text/vnd.mermaid")
    )))
)]
pub(super) async fn plan_picture(
    State(app): State<App>,
    login: Authenticated,
    path: PathParams,
    mut query: Query,
) -> ApiResult<Response> {
    let request = DiagramRequest::read(&mut query);
    query.finish()?;
    let mut session = app.store.snapshot().await?;
    let record = require_plan(&mut session, &login, &path, "id").await?;
    let plan = StoredPlan::read(&app.services.planning, &mut session, record).await?;
    let graph = match request.graph {
        Graph::Tasks => session.documents_get(&[plan.record.graph_id]).await?.into_values().next(),
        Graph::Instances => None,
    };
    drop(session);
    let drawn = app.services.planning.plans.compute(move || {
        let drawing = request.drawing(&plan.explained.plan, graph.unwrap_or_default());
        drawing.and_then(|drawing| request.draw(&drawing))
    });
    drawn.await?.map_err(|error| ApiError::bad_request(ErrorChain(&error).to_string()))
}
