//! Password change by the current user.

use axum::extract::State;
use stoker_manifest::reader::string;
use utoipa::ToSchema;

use super::view::read_password;
use crate::access::caller::Authenticated;
use crate::access::login::{self, Credentials};
use crate::http::response::NoContent;
use crate::http::body::Document;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Password change.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct PasswordBody {
    /// Current password. Required because a token alone is not sufficient.
    old_password: String,
    /// New password.
    #[schema(min_length = 1, max_length = 1024)]
    password: String,
}

/// Change the password of the current user
///
/// Revokes all tokens of the user.
#[utoipa::path(
    put, path = "/api/v1/users/me/password", request_body = PasswordBody,
    responses((status = 204), (status = 429, body = crate::http::error::Envelope, description = "Rate limit exceeded: failed logins"))
)]
pub(super) async fn user_change_own_password(
    State(app): State<App>,
    login: Authenticated,
    peer: Peer,
    document: Document,
) -> ApiResult<NoContent> {
    let (old, new) = document.fields(|fields| {
        let old = fields.required("old_password", string);
        let new = fields.required("password", read_password);
        Some((old?, new?))
    })?;
    let credentials = Credentials::new(&login.caller.user_name, &old);
    let (user, _) = login::check(&app.access, &credentials, peer.0).await.map_err(|error| {
        match error.status().as_u16() {
            401 => ApiError::forbidden("`old_password` does not match the current password"),
            _ => error,
        }
    })?;
    let hash = app.access.hash(new).await?;
    let mut writing = app.change(&login).await?;
    writing.user_set_password(user.id, &hash).await?;
    writing.tokens_delete_of_user(user.id).await?;
    writing.commit(super::change("user.password", &user)).await?;
    app.orchestrator.clear_token_cache();
    Ok(NoContent)
}
