//! Output of attempts.

use stoker_model::{Actor, Micros, OutputChunk, RunId};

use crate::sql::{Args, Bulk, Record as _, Values, record};
use crate::{Session, Store, StoreError};

const TABLE: &str = "attempt_output";

// Written with the id of the run. Output may contain any character.
record! {
    OutputChunk in "attempt_output", "output" { instance, attempt, stream, start, text [lossy] }
}

impl Session {
    /// Returns up to `limit` output chunks of an instance, ordered by attempt, stream and offset.
    pub async fn output_list(
        &mut self,
        run: RunId,
        instance: i64,
        limit: u32,
    ) -> Result<Vec<OutputChunk>, StoreError> {
        let sql = format!(
            "{} WHERE run_id = $1 AND instance = $2 ORDER BY attempt, stream, start LIMIT {limit}",
            OutputChunk::table().select_sql()
        );
        self.read_all(sql, Args::new().int(run.0).int(instance)).await
    }

    /// Returns up to `limit` chunks that contain a text, case-sensitively. A match may span two adjacent
    /// chunks, depending on how the program flushed its output; both are then returned as one chunk.
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
            "SELECT one.instance AS instance, one.attempt AS attempt, one.stream AS stream, one.start AS start, \
             one.text AS text \
             FROM {TABLE} one WHERE one.run_id = $1 AND {one} \
             UNION ALL \
             SELECT one.instance, one.attempt, one.stream, one.start, {both} \
             FROM {TABLE} one JOIN {TABLE} later ON later.run_id = one.run_id AND later.instance = one.instance \
             AND later.attempt = one.attempt AND later.stream = one.stream \
             AND later.start = one.start + octet_length(one.text) \
             WHERE one.run_id = $1 AND {across} AND NOT ({one}) AND NOT ({later}) \
             ORDER BY 1, 2, 3, 4 LIMIT {limit}"
        );
        self.read_all(sql, Args::new().int(run.0).text(needle)).await
    }
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
        let bulk = Bulk::of(&Values::new().set("run_id", &run), pieces);
        writing.connection.insert_many(TABLE, bulk, "ON CONFLICT DO NOTHING").await?;
        writing.commit_unaudited().await
    }
}
