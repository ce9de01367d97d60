//! Storing what is not there yet.

use std::collections::{HashMap, HashSet};

use stoker_model::DocumentId;

use super::pieces::{Piece, Pieces, StateDocument, pieces};
use crate::sql::Args;
use crate::{Session, StoreError, Writing};

/// How many rows one statement writes; with more, SQLite spends its time looking for placeholders.
const ROWS_MAX: usize = 25;
/// How many documents are taken to pieces at a time.
const ADDED_MAX: usize = 500;
/// How many rows one statement looks for.
const WANTED_MAX: usize = 5000;

impl Writing {
    /// Keeps documents; the id of each, in their order. Those that are there already cost nothing.
    pub async fn documents_put(
        &mut self,
        documents: impl IntoIterator<Item = &StateDocument> + Send,
    ) -> Result<Vec<DocumentId>, StoreError> {
        let documents: Vec<&StateDocument> = documents.into_iter().collect();
        let digests: Vec<&str> = documents.iter().map(|document| document.digest.as_str()).collect();
        let mut known = self.ids_of("state_documents", &digests).await?;
        let mut is_new = HashSet::new();
        let missing: Vec<&StateDocument> = documents
            .iter()
            .copied()
            .filter(|document| !known.contains_key(&document.digest) && is_new.insert(&document.digest))
            .collect();
        for chunk in missing.chunks(ADDED_MAX) {
            known.extend(self.documents_add(chunk).await?);
        }
        let id = |digest: &&str| known.get(*digest).copied().map(DocumentId);
        digests.iter().map(|digest| id(digest).ok_or(StoreError::Missing { what: "document" })).collect()
    }

    async fn documents_add(
        &mut self,
        documents: &[&StateDocument],
    ) -> Result<HashMap<String, i64>, StoreError> {
        let taken: Vec<Pieces> = documents.iter().map(|document| pieces(document.content())).collect();
        let part_ids = self.parts_put(taken.iter().flat_map(|pieces| &pieces.large)).await?;
        let rows = documents.iter().zip(&taken);
        let rows = rows.map(|(document, pieces)| Args::new().text(&document.digest).map(&pieces.small));
        let document_ids = self.insert_digests("state_documents", "small", rows.collect()).await?;
        let links = documents.iter().zip(&taken).flat_map(|(document, pieces)| {
            let document_id = document_ids.get(&document.digest).copied().unwrap_or_default();
            pieces.large.iter().map(move |piece| (document_id, piece))
        });
        let links: Vec<(i64, &Piece)> = links.collect();
        for chunk in links.chunks(ROWS_MAX) {
            let args = chunk.iter().fold(Args::new(), |args, (document_id, piece)| {
                let part_id = part_ids.get(&piece.digest).copied().unwrap_or_default();
                args.int(*document_id).key(&piece.path).int(part_id)
            });
            let sql = format!(
                "INSERT INTO state_document_parts (document_id, path, part_id) VALUES {}",
                places_sql(chunk.len(), 3)
            );
            self.connection.execute(sql, args).await?;
        }
        Ok(document_ids)
    }

    async fn parts_put<'p>(
        &mut self,
        parts: impl Iterator<Item = &'p Piece>,
    ) -> Result<HashMap<String, i64>, StoreError> {
        let parts: HashMap<&str, &Piece> = parts.map(|piece| (piece.digest.as_str(), piece)).collect();
        let digests: Vec<&str> = parts.keys().copied().collect();
        let mut ids = self.ids_of("state_parts", &digests).await?;
        let mut missing: Vec<&Piece> =
            parts.into_values().filter(|piece| !ids.contains_key(&piece.digest)).collect();
        missing.sort_unstable_by(|a, b| a.digest.cmp(&b.digest));
        let rows = missing.into_iter().map(|piece| Args::new().text(&piece.digest).text(&piece.content));
        ids.extend(self.insert_digests("state_parts", "content", rows.collect()).await?);
        Ok(ids)
    }

    /// Adds rows of a digest and one more column; their ids by digest.
    async fn insert_digests(
        &mut self,
        table: &'static str,
        column: &'static str,
        rows: Vec<Args>,
    ) -> Result<HashMap<String, i64>, StoreError> {
        let mut ids = HashMap::with_capacity(rows.len());
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let chunk: Vec<Args> = rows.by_ref().take(ROWS_MAX).collect();
            let values = places_sql(chunk.len(), 2);
            let sql = format!("INSERT INTO {table} (digest, {column}) VALUES {values} RETURNING digest, id");
            let args = chunk.into_iter().fold(Args::new(), Args::and);
            for row in self.connection.fetch_all(sql, args).await? {
                let mut columns = row.columns(table);
                ids.insert(columns.text()?, columns.int()?);
            }
        }
        Ok(ids)
    }
}

impl Session {
    /// Ids of the rows that have one of these digests.
    async fn ids_of(
        &mut self,
        table: &'static str,
        digests: &[&str],
    ) -> Result<HashMap<String, i64>, StoreError> {
        let mut ids = HashMap::with_capacity(digests.len());
        for chunk in digests.chunks(WANTED_MAX) {
            let (condition, args) = self.select().and_texts("digest", chunk.iter().copied()).finish();
            let sql = format!("SELECT digest, id FROM {table}{condition}");
            for row in self.connection.fetch_all(sql, args).await? {
                let mut columns = row.columns(table);
                ids.insert(columns.text()?, columns.int()?);
            }
        }
        Ok(ids)
    }
}

/// `($1, $2), ($3, $4)`.
pub(crate) fn places_sql(n_rows: usize, n_columns: usize) -> String {
    let row = |row_idx: usize| {
        let places: Vec<String> =
            (1..=n_columns).map(|place| format!("${}", row_idx * n_columns + place)).collect();
        format!("({})", places.join(", "))
    };
    (0..n_rows).map(row).collect::<Vec<_>>().join(", ")
}
