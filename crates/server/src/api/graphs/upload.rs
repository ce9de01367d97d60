//! Extractor for uploaded graphs.

use axum::extract::{FromRequest, Request};
use stoker_manifest::graph::task_lines;
use stoker_model::GraphSource;
use stoker_services::graphs::UploadedGraph;

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
    pub(super) fn graph(self) -> ApiResult<UploadedGraph> {
        let (body, problems) = self.document.graph_with_warnings()?;
        let source = GraphSource { file: self.file, lines: task_lines(self.document.node()) };
        Ok(UploadedGraph::new(body, source, problems))
    }
}
