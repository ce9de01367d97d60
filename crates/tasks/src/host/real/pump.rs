//! Transfer of a program's output into the report.

use stoker_engine::session::Stream;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::output::OutputReport;

/// Reads to the end of the stream. The report retains a bounded part, so endless output uses bounded memory.
pub(super) async fn pump(source: Option<impl AsyncRead + Unpin>, stream: Stream, report: &OutputReport) {
    let Some(mut source) = source else { return };
    let mut buffer = Vec::with_capacity(8 << 10);
    // A read error means the other end is closed.
    while source.read_buf(&mut buffer).await.is_ok_and(|n_read| n_read > 0) {
        report.push(stream, &buffer);
        buffer.clear();
    }
}
