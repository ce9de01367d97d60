//! Reads documents.

use std::collections::HashMap;

use stoker_model::{DocumentId, Json, JsonMap};

use super::pieces::{Path, put};
use crate::{Session, StoreError};

/// Documents per statement.
const DOCUMENTS_MAX: usize = 1000;

impl Session {
    /// Documents by id. Missing ones are left out.
    pub async fn documents_get(
        &mut self,
        ids: &[DocumentId],
    ) -> Result<HashMap<DocumentId, JsonMap>, StoreError> {
        let mut documents = HashMap::with_capacity(ids.len());
        for chunk in ids.chunks(DOCUMENTS_MAX) {
            self.read_inline(chunk, &mut documents).await?;
            self.read_pieces(chunk, &mut documents).await?;
        }
        Ok(documents)
    }

    async fn read_inline(
        &mut self,
        ids: &[DocumentId],
        documents: &mut HashMap<DocumentId, JsonMap>,
    ) -> Result<(), StoreError> {
        let (condition, args) = self.select().and_ids("id", ids.iter().map(|id| id.0)).finish();
        let sql = format!("SELECT id, small FROM state_documents{condition}");
        for row in self.connection.fetch_all(sql, args).await? {
            let mut columns = row.columns("state_documents");
            documents.insert(DocumentId(columns.int()?), columns.map()?);
        }
        Ok(())
    }

    async fn read_pieces(
        &mut self,
        ids: &[DocumentId],
        documents: &mut HashMap<DocumentId, JsonMap>,
    ) -> Result<(), StoreError> {
        let (condition, args) = self.select().and_ids("l.document_id", ids.iter().map(|id| id.0)).finish();
        let sql = format!("SELECT l.document_id, l.part_id, l.path FROM state_document_parts l{condition}");
        let mut links: Vec<(DocumentId, Path, i64)> = Vec::new();
        for row in self.connection.fetch_all(sql, args).await? {
            let mut columns = row.columns("state_document_parts");
            let (document_id, part_id) = (DocumentId(columns.int()?), columns.int()?);
            let path = Path::parse(columns.str()?);
            let path = path.ok_or_else(|| columns.corrupt_last("not the path of a piece".to_owned()))?;
            links.push((document_id, path, part_id));
        }
        // Chunks of a list must be inserted in order.
        links.sort();
        let contents = self.piece_contents(&links).await?;
        for (document_id, path, part_id) in links {
            let content = contents.get(&part_id).cloned().unwrap_or_default();
            let Some(document) = documents.get_mut(&document_id) else { continue };
            put(document, &path, content).map_err(|detail| StoreError::Corrupt {
                table: "state_document_parts".to_owned(),
                column: "path".to_owned(),
                detail: detail.to_owned(),
            })?;
        }
        Ok(())
    }

    /// Reads each piece once, even if several documents share it.
    async fn piece_contents(
        &mut self,
        links: &[(DocumentId, Path, i64)],
    ) -> Result<HashMap<i64, Json>, StoreError> {
        let mut ids: Vec<i64> = links.iter().map(|(_, _, part_id)| *part_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut contents = HashMap::with_capacity(ids.len());
        for chunk in ids.chunks(DOCUMENTS_MAX) {
            let (condition, args) = self.select().and_ids("id", chunk.iter().copied()).finish();
            let sql = format!("SELECT id, content FROM state_parts{condition}");
            for row in self.connection.fetch_all(sql, args).await? {
                let mut columns = row.columns("state_parts");
                contents.insert(columns.int()?, columns.json()?);
            }
        }
        Ok(contents)
    }
}
