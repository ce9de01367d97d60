//! Users. The password hash is not part of the record, so it cannot leak through a list or an API response.

use stoker_model::{NewUser, Tenant, User, UserId};

use crate::sql::{Args, Values, is_key, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "user name" };

record! {
    User in "users", "user" {
        id [auto sort], generation [auto], tenant_id [sort], name [key sort], roles, enabled [sort], created_at [sort],
    }
}

impl Session {
    pub async fn user_list(&mut self, list: &List) -> Result<Page<User>, StoreError> {
        self.list(self.select(), list).await
    }

    pub async fn user_get(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        self.get(id.0).await
    }

    pub async fn user_by_name(&mut self, name: &str) -> Result<Option<User>, StoreError> {
        if !is_key(name) {
            return Ok(None);
        }
        self.get_where("name = $1", Args::new().key(name)).await
    }

    pub async fn user_password_hash(&mut self, id: UserId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT password_hash FROM users WHERE id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.map(|row| row.get("users", "password_hash")).transpose()
    }
}

impl WriteTransaction {
    pub async fn user_create(&mut self, new: &NewUser) -> Result<User, StoreError> {
        self.require::<Tenant>(new.tenant_id.0).await?;
        let mut user = User {
            id: UserId(0),
            generation: 1,
            tenant_id: new.tenant_id,
            name: new.name.clone(),
            roles: new.roles.clone(),
            enabled: new.enabled,
            created_at: self.now(),
        };
        let values = Values::of(&user).text("password_hash", &new.password_hash);
        user.id = UserId(self.insert::<User>("(name)", values).await?.ok_or(DUPLICATE)?);
        Ok(user)
    }

    pub async fn user_update(&mut self, user: &User) -> Result<User, StoreError> {
        let others = "SELECT 1 FROM users WHERE name = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&user.name).int(user.id.0)).await? {
            return Err(DUPLICATE);
        }
        self.require::<Tenant>(user.tenant_id.0).await?;
        let generation = self.replace(user.id.0, user.generation, user).await?;
        Ok(User { generation, ..user.clone() })
    }

    /// Increments the generation too, so that a concurrent edit fails with [`StoreError::Stale`].
    pub async fn user_set_password(&mut self, id: UserId, password_hash: &str) -> Result<(), StoreError> {
        let sql = "UPDATE users SET password_hash = $1, generation = generation + 1 WHERE id = $2";
        let args = Args::new().text(password_hash).int(id.0);
        match self.connection.execute(sql.to_owned(), args).await? {
            0 => Err(StoreError::NotFound { what: "user" }),
            _ => Ok(()),
        }
    }

    /// Deletes a user with their tokens. Returns whether the user existed.
    pub async fn user_delete(&mut self, id: UserId) -> Result<bool, StoreError> {
        self.delete::<User>(id.0).await
    }
}
