//! Client of the REST API.
//!
//! Owns the transport: addresses, TLS, tokens, timeouts, error responses and event streams. It does not know
//! any resource: callers supply paths and bodies as defined by the OpenAPI document and interpret the
//! responses.

mod address;
mod client;
mod error;
mod events;
mod login;
mod messenger;
mod request;
mod tls;
mod token;

pub use address::Address;
pub use client::{Client, Response};
pub use error::{ClientError, ErrorResponse, Reason};
pub use events::{Events, StreamEvent};
pub use login::Login;
pub use messenger::HttpPoster;
pub use request::{Body, Method, RestRequest, encode_segment};
pub use serde_json::Value as Json;
pub use token::ApiToken;
