//! Persistent server settings.

use stoker_model::Json;

use crate::sql::{Args, is_key};
use crate::{Session, StoreError, WriteTransaction};

impl Session {
    pub async fn setting_get(&mut self, name: &str) -> Result<Option<Json>, StoreError> {
        if !is_key(name) {
            return Ok(None);
        }
        let sql = "SELECT value FROM settings WHERE name = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().key(name)).await?;
        row.map(|row| row.columns("settings").json()).transpose()
    }
}

impl WriteTransaction {
    pub async fn setting_put(&mut self, name: &str, value: &Json) -> Result<(), StoreError> {
        let sql = "INSERT INTO settings (name, value) VALUES ($1, $2) \
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection.execute(sql.to_owned(), Args::new().key(name).json(value)).await.map(drop)
    }
}
