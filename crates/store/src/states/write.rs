//! Stores documents and pieces that do not exist yet.

use std::collections::{HashMap, HashSet};

use stoker_model::DocumentId;

use super::pieces::{Piece, Pieces, StateDocument, pieces};
use crate::sql::{Args, Many};
use crate::{Session, StoreError, WriteTransaction};

const RETURNING: &str = "RETURNING digest, id";
const DOCUMENTS: Many<'_> = Many { before: "INSERT INTO state_documents (digest, small)", after: RETURNING };
const PARTS: Many<'_> = Many { before: "INSERT INTO state_parts (digest, content)", after: RETURNING };
const LINKS: Many<'_> =
    Many { before: "INSERT INTO state_document_parts (document_id, path, part_id)", after: "" };
/// Documents split at a time, to bound memory.
const SPLIT_DOCUMENTS_MAX: usize = 500;
/// Digests per lookup.
const LOOKUP_DIGESTS_MAX: usize = 5000;

impl WriteTransaction {
    /// Stores documents and returns their ids in the same order. Existing documents are not written again.
    pub async fn documents_put(
        &mut self,
        documents: impl IntoIterator<Item = &StateDocument> + Send,
    ) -> Result<Vec<DocumentId>, StoreError> {
        let documents: Vec<&StateDocument> = documents.into_iter().collect();
        let digests: Vec<&str> = documents.iter().map(|document| document.digest.as_str()).collect();
        let mut ids = self.ids_of("state_documents", &digests).await?;
        let mut is_new = HashSet::new();
        let missing: Vec<&StateDocument> = documents
            .iter()
            .copied()
            .filter(|document| !ids.contains_key(&document.digest) && is_new.insert(&document.digest))
            .collect();
        for chunk in missing.chunks(SPLIT_DOCUMENTS_MAX) {
            ids.extend(self.documents_add(chunk).await?);
        }
        let id = |digest: &&str| ids.get(*digest).copied().map(DocumentId);
        digests.iter().map(|digest| id(digest).ok_or(StoreError::NotFound { what: "document" })).collect()
    }

    async fn documents_add(
        &mut self,
        documents: &[&StateDocument],
    ) -> Result<HashMap<String, i64>, StoreError> {
        let split: Vec<Pieces> = documents.iter().map(|document| pieces(document.content())).collect();
        let part_ids = self.parts_put(split.iter().flat_map(|pieces| &pieces.large)).await?;
        let rows = documents.iter().zip(&split);
        let rows = rows.map(|(document, pieces)| Args::new().text(&document.digest).map(&pieces.small));
        let document_ids = self.insert_digests(DOCUMENTS, rows.collect()).await?;
        let links = documents.iter().zip(&split).flat_map(|(document, pieces)| {
            let document_id = document_ids.get(&document.digest).copied().unwrap_or_default();
            pieces.large.iter().map(move |piece| (document_id, piece))
        });
        let rows = links.map(|(document_id, piece): (i64, &Piece)| {
            let part_id = part_ids.get(&piece.digest).copied().unwrap_or_default();
            Args::new().int(document_id).key(&piece.path).int(part_id)
        });
        self.connection.write_many(LINKS, rows.collect()).await?;
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
        ids.extend(self.insert_digests(PARTS, rows.collect()).await?);
        Ok(ids)
    }

    /// Inserts rows of a digest and one more column. Returns their ids by digest.
    async fn insert_digests(
        &mut self,
        insert: Many<'_>,
        rows: Vec<Args>,
    ) -> Result<HashMap<String, i64>, StoreError> {
        let mut ids = HashMap::with_capacity(rows.len());
        for row in self.connection.write_many(insert, rows).await? {
            let mut columns = row.columns("digests");
            ids.insert(columns.text()?, columns.int()?);
        }
        Ok(ids)
    }
}

impl Session {
    /// Ids of the rows with these digests.
    async fn ids_of(
        &mut self,
        table: &'static str,
        digests: &[&str],
    ) -> Result<HashMap<String, i64>, StoreError> {
        let mut ids = HashMap::with_capacity(digests.len());
        for chunk in digests.chunks(LOOKUP_DIGESTS_MAX) {
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
