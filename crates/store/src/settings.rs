//! Persistent server settings.

use stoker_model::Json;

use crate::sql::{Args, Values, is_key};
use crate::{Session, StoreError, WriteTransaction};

impl Session {
    pub async fn setting_get(&mut self, name: &str) -> Result<Option<Json>, StoreError> {
        if !is_key(name) {
            return Ok(None);
        }
        let sql = "SELECT value FROM settings WHERE name = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().key(name)).await?;
        row.map(|row| row.get("settings", "value")).transpose()
    }
}

impl WriteTransaction {
    pub async fn setting_put(&mut self, name: &str, value: &Json) -> Result<(), StoreError> {
        let values = Values::new().key("name", name).set("value", value);
        let replace = "ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection.insert("settings", values, replace).await.map(drop)
    }
}
