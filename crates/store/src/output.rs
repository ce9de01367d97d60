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

    /// Pieces in which a text occurs, not more than `limit`.
    pub async fn output_search(
        &mut self,
        run: RunId,
        wanted: &str,
        limit: u32,
    ) -> Result<Vec<OutputPiece>, StoreError> {
        let escaped = wanted.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let sql = format!(
            "SELECT instance, attempt, stream, start, text FROM {TABLE} WHERE run_id = $1 AND text LIKE $2 ESCAPE '\\' \
             ORDER BY instance, attempt, stream, start LIMIT {limit}"
        );
        let args = Args::new().int(run.0).text(&format!("%{escaped}%"));
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
