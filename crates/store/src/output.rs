//! What attempts printed.

use stoker_model::{Actor, Micros, OutputPiece, RunId};

use crate::sql::Args;
use crate::{Session, Store, StoreError};

const TABLE: &str = "attempt_output";
/// How many pieces one statement writes.
const ROWS_MAX: usize = 40;
const N_COLUMNS: usize = 6;

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
        for chunk in pieces.chunks(ROWS_MAX) {
            let args = chunk.iter().fold(Args::new(), |args, piece| {
                args.int(run.0)
                    .int(piece.instance)
                    .int(piece.attempt)
                    .text(&piece.stream)
                    .int(piece.start)
                    // Programs print what they like; PostgreSQL keeps no NUL.
                    .text(&piece.text.replace('\0', "\u{fffd}"))
            });
            writing.connection.execute(put_sql(chunk.len()), args).await?;
        }
        writing.commit_quietly().await
    }
}

fn put_sql(n_rows: usize) -> String {
    let row = |index: usize| {
        let places: Vec<String> =
            (1..=N_COLUMNS).map(|place| format!("${}", index * N_COLUMNS + place)).collect();
        format!("({})", places.join(", "))
    };
    let rows: Vec<String> = (0..n_rows).map(row).collect();
    format!(
        "INSERT INTO {TABLE} (run_id, instance, attempt, stream, start, text) VALUES {} ON CONFLICT DO NOTHING",
        rows.join(", ")
    )
}
