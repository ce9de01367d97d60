//! Location of the database.

use std::os::unix::fs::DirBuilderExt as _;

use stoker_settings::DatabaseLocation;
use stoker_store::Database;

#[derive(Debug, thiserror::Error)]
#[error("cannot create the directory {folder}")]
pub struct DatabaseFolderError {
    pub folder: String,
    pub source: std::io::Error,
}

/// Creates the directory of an embedded database if it does not exist, readable by its owner only.
pub fn of_location(location: &DatabaseLocation) -> Result<Database, DatabaseFolderError> {
    match location {
        DatabaseLocation::Url(url) => Ok(Database::Postgres { url: url.reveal().to_owned() }),
        DatabaseLocation::Folder(folder) => {
            let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            created.map_err(|source| DatabaseFolderError { folder: folder.display().to_string(), source })?;
            Ok(Database::Sqlite { path: folder.join(DatabaseLocation::FILE) })
        }
    }
}
