//! A graph as it is uploaded: what it says, where each task stands, and what is probably wrong with it.

use axum::extract::{FromRequest, Request};
use stoker_graph::{CheckOptions, Finding, Layer, MergeRules, Scope, Severity, Source, check, codes, merge};
use stoker_manifest::graph::{GraphBody, lines_of};
use stoker_manifest::{Problem, Severity as Judgement};
use stoker_model::{GraphSource, Task};
use stoker_services::{ErrorDetail, Severity as DetailSeverity};

use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::query::Query;
use crate::state::App;

/// Longer names of files are no names of files.
const FILE_CHARS_MAX: usize = 1024;

/// The body of an upload, and the name of the file it was read from.
pub(super) struct Upload {
    document: Document,
    file: Option<String>,
}

/// What was uploaded.
pub(super) struct UploadedGraph {
    pub(super) body: GraphBody,
    pub(super) source: GraphSource,
    pub(super) warnings: Vec<ErrorDetail>,
}

impl FromRequest<App> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let mut query = Query::parse(request.uri().query().unwrap_or_default());
        let file = query.text("file").map(str::to_owned);
        let is_name =
            |file: &String| file.chars().count() <= FILE_CHARS_MAX && !file.chars().any(char::is_control);
        if file.as_ref().is_some_and(|file| !is_name(file)) {
            query.problem("file", format!("must be a name of at most {FILE_CHARS_MAX} letters"));
        }
        query.finish()?;
        Ok(Self { document: Document::from_request(request, app).await?, file })
    }
}

impl Upload {
    pub(super) fn graph(self) -> ApiResult<UploadedGraph> {
        let (body, problems) = self.document.graph_with_warnings()?;
        let warnings = problems.iter().filter(|problem| problem.severity == Judgement::Warning);
        let source = GraphSource { file: self.file, lines: lines_of(self.document.node()) };
        let item = |problem: &Problem| ErrorDetail { file: source.file.clone(), ..ErrorDetail::from(problem) };
        Ok(UploadedGraph { warnings: warnings.map(item).collect(), body, source })
    }
}

/// What is probably wrong with tasks. Those that would wait for each other whatever other layers say are refused; what
/// is only possible is left to the check.
pub(super) fn judged(app: &App, tasks: &[Task], source: &GraphSource) -> ApiResult<Vec<ErrorDetail>> {
    let merged = merge(&[Layer::of_tasks(Source::Release, tasks)], MergeRules::default());
    let library = app.library();
    let options = CheckOptions { library: Some(&*library), ..CheckOptions::new(Scope::Layer) };
    let findings = check(&merged, &options);
    let mut error: Option<ApiError> = None;
    let is_error = |finding: &&Finding| finding.code == codes::CYCLE && finding.severity == Severity::Error;
    for cycle in findings.iter().filter(is_error) {
        let so_far = error.unwrap_or_else(|| ApiError::bad_request(cycle.message.clone()));
        error = Some(so_far.with_item(item(cycle, source)));
    }
    let told = findings.iter().filter(|finding| !NOT_TOLD.contains(&finding.code));
    // It is stored, so that nothing of it is more than a warning yet.
    let warning = |finding| ErrorDetail { severity: DetailSeverity::Warning, ..item(finding, source) };
    error.map_or_else(|| Ok(told.map(warning).collect()), Err)
}

/// What depends on other layers, which may come later; and words without quotes, which were told with their very places
/// when the text was read.
const NOT_TOLD: &[&str] =
    &[codes::BARE_WORD, codes::DANGLING, codes::GROUP_MEMBER, codes::PLACE, codes::UNPLACED];

fn item(finding: &Finding, source: &GraphSource) -> ErrorDetail {
    ErrorDetail {
        path: finding.path.clone(),
        message: finding.message.clone(),
        code: Some(finding.code),
        help: finding.help.clone(),
        file: source.file.clone(),
        line: finding.task.as_deref().and_then(|task| source.line(task, &finding.path)),
        task: finding.task.clone(),
        ..ErrorDetail::default()
    }
}
