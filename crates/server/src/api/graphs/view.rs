//! How graphs are shown.

use serde::Serialize;
use stoker_manifest::task::render;
use stoker_model::{Graph, GraphMetadata, Json, JsonMap, StoredTask};
use utoipa::ToSchema;
use stoker_services::graphs::Stored;

use crate::http::answer::Answer;
use crate::http::error::ErrorItem;
use crate::http::etag;

/// A graph with its tasks.
#[derive(Serialize, ToSchema)]
#[schema(as = Graph)]
pub(super) struct GraphView {
    #[schema(example = 12)]
    id: i64,
    #[serde(rename = "type")]
    #[schema(example = "default")]
    graph_type: String,
    name: Option<String>,
    /// Each with `id` and `type`; fields with two spellings come in both.
    #[schema(value_type = Vec<Object>)]
    tasks: Vec<JsonMap>,
    relations: Vec<Relation>,
    /// A YAQL predicate over a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "$.status = ready")]
    node_filter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    on_success: Option<JsonMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    on_error: Option<JsonMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    on_stop: Option<JsonMap>,
    /// In the answer to an upload: what is probably not what was meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<ErrorItem>,
}

/// Whom a graph belongs to, and as what.
#[derive(Serialize, ToSchema)]
pub(super) struct Relation {
    #[serde(rename = "type")]
    graph_type: String,
    /// `release`, `cluster` or `plugin`.
    #[schema(example = "cluster")]
    model: &'static str,
    #[schema(example = 3)]
    model_id: i64,
}

impl From<Graph> for GraphView {
    fn from(graph: Graph) -> Self {
        let graph_type = graph.graph_type.as_str().to_owned();
        let GraphMetadata { name, node_filter, on_success, on_error, on_stop } = graph.metadata;
        Self {
            id: graph.id.0,
            name,
            tasks: graph.tasks.iter().map(|stored| render(&stored.task)).collect(),
            relations: vec![Relation {
                graph_type: graph_type.clone(),
                model: graph.owner.kind().as_str(),
                model_id: graph.owner.id(),
            }],
            graph_type,
            node_filter,
            on_success,
            on_error,
            on_stop,
            warnings: Vec::new(),
        }
    }
}

impl GraphView {
    /// The answer to an upload that changed a graph.
    pub(super) fn stored(stored: Stored) -> Answer<Self> {
        let version = etag::of_graph(&stored.graph);
        Answer::ok(Self { warnings: stored.warnings.into_iter().map(ErrorItem::from).collect(), ..Self::from(stored.graph) }).version(version)
    }

    /// The same where it is a new one.
    pub(super) fn created(stored: Stored) -> Answer<Self> {
        let version = etag::of_graph(&stored.graph);
        Answer::created(Self { warnings: stored.warnings.into_iter().map(ErrorItem::from).collect(), ..Self::from(stored.graph) }).version(version)
    }
}

/// A task with the id of its row.
pub(super) fn with_row(stored: &StoredTask) -> JsonMap {
    let mut fields = render(&stored.task);
    fields.insert("db_id".to_owned(), Json::from(stored.id.0));
    fields
}

/// What may be said about a graph. Bodies may also be a bare list of tasks.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct GraphBody {
    /// The graph type; `default` where neither the path nor the body has one.
    #[schema(nullable = false, example = "default", pattern = "^[0-9A-Za-z_-]{1,255}$")]
    r#type: Option<String>,
    #[schema(example = "my graph")]
    name: Option<String>,
    #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"id": "hello", "type": "shell", "role": "*", "parameters": {"cmd": "echo hello"}}]))]
    tasks: Option<Vec<JsonMap>>,
    #[schema(example = "$.status = ready")]
    node_filter: Option<String>,
    #[schema(value_type = Option<Object>)]
    on_success: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    on_error: Option<JsonMap>,
    #[schema(value_type = Option<Object>)]
    on_stop: Option<JsonMap>,
}

/// A new graph and whom it belongs to.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewGraphBody {
    model: OwnerWord,
    /// Which one.
    #[schema(example = 3, minimum = 1)]
    model_id: i64,
    #[serde(flatten)]
    #[schema(inline)]
    graph: GraphBody,
}

/// A kind of owner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
enum OwnerWord {
    Release,
    Cluster,
    Plugin,
}
