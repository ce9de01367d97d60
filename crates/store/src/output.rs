//! What attempts printed.

use stoker_model::{Actor, Micros, OutputPiece, RunId};

use crate::sql::{Args, Many};
use crate::{Session, Store, StoreError};

const TABLE: &str = "attempt_output";
const PUT: Many<'_> = Many {
    before: "INSERT INTO attempt_output (run_id, instance, attempt, stream, start, text)",
    after: "ON CONFLICT DO NOTHING",
};

impl Session {
    /// What an instance printed, attempt by attempt and stream by stream; not more than `limit` pieces.
    pub async fn output_list(
        &mut self,
        run: RunId,
        instance: i64,
        limit: u32,
    ) -> Result<Vec<OutputPiece>, StoreError> {
        let sql = format!(
            "SELECT instance, attempt, stream, start, text FROM {TABLE} WHERE run_id = $1 AND instance = $2 \
             ORDER BY attempt, stream, start LIMIT {limit}"
        );
        let rows = self.connection.fetch_all(sql, Args::new().int(run.0).int(instance)).await?;
        rows.iter().map(|row| read(&mut row.columns(TABLE))).collect()
    }

    /// Pieces in which a text occurs as it is written, not more than `limit`. Where it begins in one and ends in the next,
    /// which is up to how a program wrote it, both are one.
    pub async fn output_search(
        &mut self,
        run: RunId,
        wanted: &str,
        limit: u32,
    ) -> Result<Vec<OutputPiece>, StoreError> {
        // Both engines know it, and both tell large letters from small ones with it.
        let has = |text: &str| format!("replace({text}, $2, '') <> {text}");
        let (one, later) = (has("one.text"), has("later.text"));
        let both = "(one.text || later.text)";
        let across = has(both);
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
        let args = Args::new().int(run.0).text(wanted);
        let rows = self.connection.fetch_all(sql, args).await?;
        rows.iter().map(|row| read(&mut row.columns(TABLE))).collect()
    }
}

fn read(columns: &mut crate::sql::Columns<'_>) -> Result<OutputPiece, StoreError> {
    Ok(OutputPiece {
        instance: columns.int()?,
        attempt: columns.int()?,
        stream: columns.text()?,
        start: columns.int()?,
        text: columns.text()?,
    })
}

impl Store {
    /// Keeps pieces; one that is there already is left as it is, so that sending it again does no harm.
    pub async fn output_put(
        &self,
        run: RunId,
        pieces: &[OutputPiece],
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut writing = self.change(&Actor::server(), now).await?;
        let rows = pieces.iter().map(|piece| {
            Args::new()
                .int(run.0)
                .int(piece.instance)
                .int(piece.attempt)
                .text(&piece.stream)
                .int(piece.start)
                // Programs print what they like; PostgreSQL keeps no NUL.
                .text(&piece.text.replace('\0', "\u{fffd}"))
        });
        writing.connection.write_many(PUT, rows.collect()).await?;
        writing.commit_quietly().await
    }
}
