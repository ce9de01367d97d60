//! Reads documents.

use std::collections::HashMap;

use stoker_model::{DocumentId, Json, JsonMap};

use super::pieces::{Path, put};
use crate::sql::{Args, Cell, Record as _, Scalar, read_pairs, record};
use crate::{Session, StoreError};

/// Documents per statement.
const DOCUMENTS_MAX: usize = 1000;

/// Where a piece belongs. Sorts by document and path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PieceLink {
    pub(super) document_id: DocumentId,
    pub(super) path: Path,
    pub(super) part_id: i64,
}

record! {
    PieceLink in "state_document_parts", "part of a document" { document_id, path, part_id }
}

impl Scalar for Path {
    fn read_nullable(cell: Cell<'_>) -> Result<Option<Self>, StoreError> {
        cell.parse(|text| Self::parse(text).ok_or("not the path of a piece"))
    }

    fn write_nullable(value: Option<&Self>, args: Args) -> Args {
        match value {
            Some(path) => args.key(&path.to_string()),
            None => args.opt_text(None),
        }
    }
}

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
        let rows = self.connection.fetch_all(sql, args).await?;
        documents.extend(read_pairs::<_, _, Vec<_>>(&rows, "state_documents", ["id", "small"])?);
        Ok(())
    }

    async fn read_pieces(
        &mut self,
        ids: &[DocumentId],
        documents: &mut HashMap<DocumentId, JsonMap>,
    ) -> Result<(), StoreError> {
        let (condition, args) = self.select().and_ids("document_id", ids.iter().map(|id| id.0)).finish();
        let sql = format!("{}{condition}", PieceLink::table().select_sql());
        let mut links: Vec<PieceLink> = self.read_all(sql, args).await?;
        // Chunks of a list must be inserted in order.
        links.sort();
        let contents = self.piece_contents(&links).await?;
        for PieceLink { document_id, path, part_id } in links {
            let content = contents.get(&part_id).cloned().unwrap_or_default();
            let Some(document) = documents.get_mut(&document_id) else { continue };
            put(document, &path, content).map_err(|detail| StoreError::Corrupt {
                table: "state_document_parts".to_owned(),
                column: "path".to_owned(),
                source: detail.into(),
            })?;
        }
        Ok(())
    }

    /// Reads each piece once, even if several documents share it.
    async fn piece_contents(&mut self, links: &[PieceLink]) -> Result<HashMap<i64, Json>, StoreError> {
        let mut ids: Vec<i64> = links.iter().map(|link| link.part_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut contents = HashMap::with_capacity(ids.len());
        for chunk in ids.chunks(DOCUMENTS_MAX) {
            let (condition, args) = self.select().and_ids("id", chunk.iter().copied()).finish();
            let sql = format!("SELECT id, content FROM state_parts{condition}");
            let rows = self.connection.fetch_all(sql, args).await?;
            contents.extend(read_pairs::<_, _, Vec<_>>(&rows, "state_parts", ["id", "content"])?);
        }
        Ok(contents)
    }
}
