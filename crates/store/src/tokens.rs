//! API tokens. The database stores the digest of a token, never the token.

use std::fmt::Write as _;

use stoker_model::{Micros, NewToken, Tenant, TenantId, Token, TokenId, User, UserId};

use crate::sql::{Args, Columns, Record as _, Row};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

const TABLE: &str = "tokens";
const SELECT: &str = "SELECT id, user_id, tenant_id, label, issued_at, expires_at FROM tokens";
const ORDERS: &[&str] = &["id", "user_id", "tenant_id", "label", "issued_at", "expires_at"];

/// Authentication of a request in a single query.
const FIND: &str = "SELECT t.id, t.user_id, t.tenant_id, t.label, t.issued_at, t.expires_at, \
    u.id, u.generation, u.tenant_id, u.name, u.roles, u.enabled, u.created_at, \
    n.id, n.generation, n.name, n.description, n.enabled, n.created_at \
    FROM tokens t JOIN users u ON u.id = t.user_id JOIN tenants n ON n.id = t.tenant_id WHERE t.digest = $1";

fn read(columns: &mut Columns<'_>) -> Result<Token, StoreError> {
    Ok(Token {
        id: TokenId(columns.int()?),
        user_id: UserId(columns.int()?),
        tenant_id: TenantId(columns.int()?),
        label: columns.opt_text()?,
        issued_at: columns.time()?,
        expires_at: columns.time()?,
    })
}

fn from_row(row: &Row) -> Result<Token, StoreError> {
    read(&mut row.columns(TABLE))
}

pub(crate) fn hex(digest: &[u8; 32]) -> String {
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Store {
    /// Issues a token at login. Not audited, because logins would fill the audit log.
    pub async fn token_issue(&self, new: &NewToken) -> Result<Token, StoreError> {
        let mut writing = self.begin_write(&stoker_model::Actor::server(), new.issued_at).await?;
        let token = writing.token_create(new).await?;
        writing.commit_unaudited().await?;
        Ok(token)
    }
}

impl Session {
    /// The token with this digest, its user and its tenant. The caller must check the expiry: the store has
    /// no clock.
    pub async fn token_find(
        &mut self,
        digest: &[u8; 32],
    ) -> Result<Option<(Token, User, Tenant)>, StoreError> {
        let row = self.connection.fetch_optional(FIND.to_owned(), Args::new().text(&hex(digest))).await?;
        let Some(row) = row else { return Ok(None) };
        let mut columns = row.columns(TABLE);
        Ok(Some((read(&mut columns)?, User::read(&mut columns)?, Tenant::read(&mut columns)?)))
    }

    pub async fn token_get(&mut self, id: TokenId) -> Result<Option<Token>, StoreError> {
        let sql = format!("{SELECT} WHERE id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        row.as_ref().map(from_row).transpose()
    }

    /// Tokens of one user, or of all users.
    pub async fn token_list(
        &mut self,
        user_id: Option<UserId>,
        list: &List,
    ) -> Result<Page<Token>, StoreError> {
        let select = self.select().and_int("user_id = ?", user_id.map(|id| id.0));
        let order = list.order_sql(ORDERS, "id")?;
        let (rows, total) = self.page(SELECT, TABLE, select, &order, list).await?;
        let items = rows.iter().map(from_row).collect::<Result<_, _>>()?;
        Ok(Page { items, total })
    }
}

impl WriteTransaction {
    pub async fn token_create(&mut self, new: &NewToken) -> Result<Token, StoreError> {
        self.require::<User>(new.user_id.0).await?;
        self.require::<Tenant>(new.tenant_id.0).await?;
        let sql = "INSERT INTO tokens (user_id, tenant_id, label, digest, issued_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (digest) DO NOTHING RETURNING id";
        let args = Args::new()
            .int(new.user_id.0)
            .int(new.tenant_id.0)
            .opt_text(new.label.as_deref())
            .text(&hex(&new.digest))
            .int(new.issued_at.0)
            .int(new.expires_at.0);
        let row = self.connection.fetch_optional(sql.to_owned(), args).await?;
        let row = row.ok_or(StoreError::AlreadyExists { what: "token" })?;
        Ok(Token {
            id: TokenId(row.columns(TABLE).int()?),
            user_id: new.user_id,
            tenant_id: new.tenant_id,
            label: new.label.clone(),
            issued_at: new.issued_at,
            expires_at: new.expires_at,
        })
    }

    /// Returns whether the token existed.
    pub async fn token_delete(&mut self, id: TokenId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM tokens WHERE id = $1".to_owned();
        Ok(self.connection.execute(sql, Args::new().int(id.0)).await? == 1)
    }

    /// Returns the number of deleted tokens.
    pub async fn tokens_delete_of_user(&mut self, user_id: UserId) -> Result<u64, StoreError> {
        let sql = "DELETE FROM tokens WHERE user_id = $1".to_owned();
        self.connection.execute(sql, Args::new().int(user_id.0)).await
    }

    /// Deletes tokens that expired before an instant. Returns their number.
    pub async fn tokens_purge(&mut self, before: Micros) -> Result<u64, StoreError> {
        let sql = "DELETE FROM tokens WHERE expires_at < $1".to_owned();
        self.connection.execute(sql, Args::new().int(before.0)).await
    }
}
