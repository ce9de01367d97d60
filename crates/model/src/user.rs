//! Tenants, users and their API tokens.

use std::fmt;

use crate::{Micros, Role, TenantId, TokenId, UserId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    pub generation: i64,
    pub name: String,
    pub description: Option<String>,
    pub enabled: bool,
    pub created_at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTenant {
    /// Tenant name, globally unique.
    pub name: String,
    pub description: Option<String>,
    pub enabled: bool,
}

/// Reference to a tenant by name or ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantRef {
    Name(String),
    Id(TenantId),
}

impl fmt::Display for TenantRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Id(id) => write!(f, "{id}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub generation: i64,
    pub tenant_id: TenantId,
    pub name: String,
    pub roles: Vec<Role>,
    pub enabled: bool,
    pub created_at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    pub tenant_id: TenantId,
    /// User name, globally unique.
    pub name: String,
    pub roles: Vec<Role>,
    pub enabled: bool,
    /// Password hash in the string format of the algorithm; never part of a [`User`].
    pub password_hash: String,
}

/// A stored token without its secret, which only the bearer knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub user_id: UserId,
    /// The tenant it is scoped to.
    pub tenant_id: TenantId,
    /// Name given by the owner; `None` for a token created by a login.
    pub label: Option<String>,
    pub issued_at: Micros,
    pub expires_at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    pub user_id: UserId,
    pub tenant_id: TenantId,
    pub label: Option<String>,
    /// SHA-256 of the secret.
    pub digest: [u8; 32],
    pub issued_at: Micros,
    pub expires_at: Micros,
}
