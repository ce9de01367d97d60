//! Tenants, their users and the tokens users log in with.

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
    /// Unique.
    pub name: String,
    pub description: Option<String>,
    pub enabled: bool,
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
    /// Unique.
    pub name: String,
    pub roles: Vec<Role>,
    pub enabled: bool,
    /// In the text form of the algorithm that made it; never part of a [`User`].
    pub password_hash: String,
}

/// A token as it is kept: the secret itself is known to its bearer alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub user_id: UserId,
    /// The tenant it is for.
    pub tenant_id: TenantId,
    /// What its owner calls it; `None` for one that a login made.
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
