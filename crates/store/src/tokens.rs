//! API tokens. The database stores the digest of a token, never the token.

use std::sync::LazyLock;

use stoker_model::{Micros, NewToken, Tenant, Token, TokenId, User, UserId};

use crate::sql::{Args, Record as _, Values, record};
use crate::{List, Page, Session, Store, StoreError, WriteTransaction};

record! {
    Token in "tokens", "token" {
        id [auto sort], user_id [sort], tenant_id [sort], label [sort], issued_at [sort], expires_at [sort],
    }
}

/// Query that authenticates a request.
static FIND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, {} FROM tokens t JOIN users u ON u.id = t.user_id JOIN tenants n ON n.id = t.tenant_id \
         WHERE t.digest = $1",
        Token::table().select_list_of("t", "token_"),
        User::table().select_list_of("u", "user_"),
        Tenant::table().select_list_of("n", "tenant_")
    )
});

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
    /// Returns the token with this digest, its user and its tenant. The caller must check the expiry, because
    /// the store has no clock.
    pub async fn token_find(
        &mut self,
        digest: &[u8; 32],
    ) -> Result<Option<(Token, User, Tenant)>, StoreError> {
        let row =
            self.connection.fetch_optional(FIND.clone(), Args::new().text(&hex::encode(digest))).await?;
        let Some(row) = row else { return Ok(None) };
        let (token, user) = (row.read_prefixed("token_")?, row.read_prefixed("user_")?);
        Ok(Some((token, user, row.read_prefixed("tenant_")?)))
    }

    pub async fn token_get(&mut self, id: TokenId) -> Result<Option<Token>, StoreError> {
        self.get(id.0).await
    }

    /// Lists the tokens of one user, or of all users.
    pub async fn token_list(
        &mut self,
        user_id: Option<UserId>,
        list: &List,
    ) -> Result<Page<Token>, StoreError> {
        let select = self.select().and_int("user_id = ?", user_id.map(|id| id.0));
        self.list(select, list).await
    }
}

impl WriteTransaction {
    pub async fn token_create(&mut self, new: &NewToken) -> Result<Token, StoreError> {
        self.require::<User>(new.user_id.0).await?;
        self.require::<Tenant>(new.tenant_id.0).await?;
        let mut token = Token {
            id: TokenId(0),
            user_id: new.user_id,
            tenant_id: new.tenant_id,
            label: new.label.clone(),
            issued_at: new.issued_at,
            expires_at: new.expires_at,
        };
        let values = Values::of(&token).text("digest", &hex::encode(new.digest));
        let id = self.insert::<Token>("(digest)", values).await?;
        token.id = TokenId(id.ok_or(StoreError::AlreadyExists { what: "token" })?);
        Ok(token)
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
