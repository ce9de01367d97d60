//! Output of a program, on its way into the report.

use stoker_engine::session::Stream;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::output::Report;

/// Reads to the end. The report keeps a bounded part, so a program that never stops printing does no harm.
pub(super) async fn pump(source: Option<impl AsyncRead + Unpin>, stream: Stream, report: &Report) {
    let Some(mut source) = source else { return };
    let mut buffer = Vec::with_capacity(8 << 10);
    // An error is the end: the other side is gone.
    while source.read_buf(&mut buffer).await.is_ok_and(|n_read| n_read > 0) {
        report.push(stream, &buffer);
        buffer.clear();
    }
}
