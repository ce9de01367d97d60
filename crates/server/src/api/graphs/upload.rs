//! Extractor for uploaded graphs.

use axum::extract::{FromRequest, Request};
use serde_json::json;
use stoker_manifest::graph::task_lines;
use stoker_model::{Graph, GraphSource};
use stoker_services::graphs::UploadedGraph;

use super::view::render_relation;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::query::Query;
use crate::state::App;

/// Maximum length of a file name, in characters.
const FILE_CHARS_MAX: usize = 1024;

/// Uploaded document, with the name of its file for use in diagnostics.
pub(super) struct Upload {
    document: Document,
    file: Option<String>,
}

impl FromRequest<App> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let mut query = Query::parse(request.uri().query().unwrap_or_default());
        let file = query.text("file").map(str::to_owned);
        let is_name =
            |file: &String| file.chars().count() <= FILE_CHARS_MAX && !file.chars().any(char::is_control);
        if file.as_ref().is_some_and(|file| !is_name(file)) {
            query.problem(
                "file",
                format!(
                    "must be a file name of at most {FILE_CHARS_MAX} characters, without control characters"
                ),
            );
        }
        query.finish()?;
        Ok(Self { document: Document::from_request(request, app).await?, file })
    }
}

impl Upload {
    /// Rejects the `id` and `relations` of another graph than the one that the upload replaces.
    pub(super) fn require_same(&self, graph: &Graph) -> ApiResult<()> {
        let stored = json!({"id": graph.id.0, "relations": [render_relation(graph)]});
        self.document.check_read_only(&["id", "relations"], &stored)
    }

    pub(super) fn graph(self) -> ApiResult<UploadedGraph> {
        let (body, problems) = self.document.graph_with_warnings()?;
        let source = GraphSource { file: self.file, lines: task_lines(self.document.node()) };
        Ok(UploadedGraph::new(body, source, problems))
    }
}
