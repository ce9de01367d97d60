//! Records of operations that complete within the request, so that they appear in the list of runs.

use stoker_model::{ClusterId, Json, NewRun, Run, RunName, RunStatus};
use stoker_services::random;
use stoker_store::WriteTransaction;

use crate::http::error::ApiResult;

pub(in crate::api) async fn finished_run(
    writing: &mut WriteTransaction,
    name: RunName,
    cluster_id: Option<ClusterId>,
    message: String,
    result: Json,
) -> ApiResult<Run> {
    let now = writing.now();
    let new = NewRun {
        uuid: random::uuid()?,
        parent_id: None,
        cluster_id,
        name,
        status: RunStatus::Ready,
        progress: 100,
        message: Some(message),
        result,
        graph_type: None,
        dry_run: false,
        started_at: Some(now),
        ended_at: Some(now),
    };
    Ok(writing.run_create(&new).await?)
}
