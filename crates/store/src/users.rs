//! Users. The password hash is not part of the record, so it cannot leak through a list or an API response.

use stoker_model::{NewUser, Role, Tenant, TenantId, User, UserId};

use crate::sql::{Args, Columns, Record, Table, is_key};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TAKEN: StoreError = StoreError::AlreadyExists { what: "user name" };

impl Record for User {
    const TABLE: Table = Table {
        name: "users",
        noun: "user",
        columns: &["tenant_id", "name", "roles", "enabled", "created_at"],
        orders: &["id", "tenant_id", "name", "enabled", "created_at"],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: UserId(columns.int()?),
            generation: columns.int()?,
            tenant_id: TenantId(columns.int()?),
            name: columns.text()?,
            roles: read_roles(columns)?,
            enabled: columns.bool()?,
            created_at: columns.time()?,
        })
    }
}

fn read_roles(columns: &mut Columns<'_>) -> Result<Vec<Role>, StoreError> {
    let names = columns.strings()?;
    names
        .iter()
        .map(|name| Role::parse(name).ok_or_else(|| columns.corrupt_last(format!("`{name}` is not a role"))))
        .collect()
}

fn role_names(roles: &[Role]) -> Vec<&'static str> {
    roles.iter().map(|role| role.as_str()).collect()
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
        row.map(|row| row.columns("users").text()).transpose()
    }
}

impl WriteTransaction {
    pub async fn user_create(&mut self, new: &NewUser) -> Result<User, StoreError> {
        self.require::<Tenant>(new.tenant_id.0).await?;
        let created_at = self.now();
        // Not the generic insert, because the password hash is not among the columns of the record.
        let sql = "INSERT INTO users (generation, tenant_id, name, roles, enabled, created_at, password_hash) \
                   VALUES (1, $1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING RETURNING id";
        let args = Args::new()
            .int(new.tenant_id.0)
            .key(&new.name)
            .strings(&role_names(&new.roles))
            .bool(new.enabled)
            .int(created_at.0)
            .text(&new.password_hash);
        let row = self.connection.fetch_optional(sql.to_owned(), args).await?.ok_or(TAKEN)?;
        Ok(User {
            id: UserId(row.columns("users").int()?),
            generation: 1,
            tenant_id: new.tenant_id,
            name: new.name.clone(),
            roles: new.roles.clone(),
            enabled: new.enabled,
            created_at,
        })
    }

    pub async fn user_update(&mut self, user: &User) -> Result<User, StoreError> {
        let others = "SELECT 1 FROM users WHERE name = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&user.name).int(user.id.0)).await? {
            return Err(TAKEN);
        }
        self.require::<Tenant>(user.tenant_id.0).await?;
        let args = Args::new()
            .int(user.tenant_id.0)
            .key(&user.name)
            .strings(&role_names(&user.roles))
            .bool(user.enabled)
            .int(user.created_at.0);
        let generation = self.replace::<User>(user.id.0, user.generation, args).await?;
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
