//! Output of attempts.

use stoker_model::{Actor, Micros, OutputChunk, RunId};

use crate::sql::{Args, Many};
use crate::{Session, Store, StoreError};

const TABLE: &str = "attempt_output";
const PUT: Many<'_> = Many {
    before: "INSERT INTO attempt_output (run_id, instance, attempt, stream, start, text)",
    after: "ON CONFLICT DO NOTHING",
};

impl Session {
    /// Up to `limit` output chunks of an instance, ordered by attempt, stream and offset.
    pub async fn output_list(
        &mut self,
        run: RunId,
        instance: i64,
        limit: u32,
    ) -> Result<Vec<OutputChunk>, StoreError> {
        let sql = format!(
            "SELECT instance, attempt, stream, start, text FROM {TABLE} WHERE run_id = $1 AND instance = $2 \
             ORDER BY attempt, stream, start LIMIT {limit}"
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(run.0).int(instance)).await?;
        rows.iter().map(|row| read(&mut row.columns(TABLE))).collect()
    }

    /// Up to `limit` chunks that contain a text, case-sensitively. A match that spans two adjacent chunks,
    /// which depends on how the program flushed its output, returns both as one chunk.
    pub async fn output_search(
        &mut self,
        run: RunId,
        needle: &str,
        limit: u32,
    ) -> Result<Vec<OutputChunk>, StoreError> {
        // `replace` is case-sensitive in both engines, unlike `LIKE`.
        let contains = |text: &str| format!("replace({text}, $2, '') <> {text}");
        let (one, later) = (contains("one.text"), contains("later.text"));
        let both = "(one.text || later.text)";
        let across = contains(both);
        let sql = format!(
            "SELECT one.instance, one.attempt, one.stream, one.start, one.text \
             FROM {TABLE} one WHERE one.run_id = $1 AND {one} \
             UNION ALL \
             SELECT one.instance, one.attempt, one.stream, one.start, {both} \
             FROM {TABLE} one JOIN {TABLE} later ON later.run_id = one.run_id AND later.instance = one.instance \
             AND later.attempt = one.attempt AND later.stream = one.stream \
             AND later.start = one.start + octet_length(one.text) \
             WHERE one.run_id = $1 AND {across} AND NOT ({one}) AND NOT ({later}) \
             ORDER BY 1, 2, 3, 4 LIMIT {limit}"
        );
        let args = Args::new().int(run.0).text(needle);
        let rows = self.connection.fetch_all(sql, args).await?;
        rows.iter().map(|row| read(&mut row.columns(TABLE))).collect()
    }
}

fn read(columns: &mut crate::sql::Columns<'_>) -> Result<OutputChunk, StoreError> {
    Ok(OutputChunk {
        instance: columns.int()?,
        attempt: columns.int()?,
        stream: columns.text()?,
        start: columns.int()?,
        text: columns.text()?,
    })
}

impl Store {
    /// Stores output chunks. Idempotent: existing chunks are unchanged.
    pub async fn output_put(
        &self,
        run: RunId,
        pieces: &[OutputChunk],
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut writing = self.begin_write(&Actor::server(), now).await?;
        let rows = pieces.iter().map(|piece| {
            Args::new()
                .int(run.0)
                .int(piece.instance)
                .int(piece.attempt)
                .text(&piece.stream)
                .int(piece.start)
                // Output may contain NUL, which PostgreSQL cannot store.
                .text(&piece.text.replace('\0', "\u{fffd}"))
        });
        writing.connection.write_many(PUT, rows.collect()).await?;
        writing.commit_unaudited().await
    }
}
