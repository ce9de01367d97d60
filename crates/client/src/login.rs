//! Login and logout.

use serde_json::{Value as Json, json};

use crate::client::Client;
use crate::error::ClientError;
use crate::request::{Body, Method, RestRequest};
use crate::token::ApiToken;

/// Token issued at login.
pub struct Login {
    pub token: ApiToken,
    /// Expiry time, such as `2026-01-31T19:00:00Z`.
    pub expires: String,
}

impl Client {
    /// Exchanges user name and password for a token.
    pub fn log_in(&self, user: &str, password: &str, tenant: Option<&str>) -> Result<Login, ClientError> {
        let mut auth = json!({"passwordCredentials": {"username": user, "password": password}});
        if let Some(tenant) = tenant {
            auth["tenantName"] = tenant.into();
        }
        let body = json!({ "auth": auth });
        let request = RestRequest::new(Method::Post, "/keystone/v2.0/tokens").body(Body::Json(&body));
        let answer = self.json(&request)?;
        let text_at = |pointer| answer.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
        let token = text_at("/access/token/id").ok_or_else(|| ClientError::InvalidResponse {
            server: self.address().to_string(),
            why: "its login response contains no token".to_owned(),
        })?;
        Ok(Login {
            token: ApiToken::new(token),
            expires: text_at("/access/token/expires").unwrap_or_default(),
        })
    }

    /// Revokes a token at the server. An expired or unknown token is not an error.
    pub fn log_out(self, token: &ApiToken) -> Result<(), ClientError> {
        let client = self.with_token(Some(ApiToken::new(token.reveal().to_owned())));
        let request =
            RestRequest::new(Method::Delete, "/v3/auth/tokens").header("x-subject-token", token.reveal());
        match client.send(&request) {
            Err(ClientError::Rejected(refusal)) if matches!(refusal.status, 401 | 404) => Ok(()),
            answer => answer.map(|_| ()),
        }
    }
}
