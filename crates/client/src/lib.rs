//! A client of the REST API.
//!
//! Owns how requests are sent and answers are read: addresses, TLS, tokens, time limits, the envelope of errors, and
//! streams of events. It knows no resource: paths and bodies are those of the published document, and whoever calls
//! says what they mean.

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
pub use client::{Answer, Client};
pub use error::{ClientError, Reason, Refusal};
pub use events::{Event, Events};
pub use login::Login;
pub use messenger::Messenger;
pub use request::{Body, Method, Request, segment};
pub use serde_json::Value as Json;
pub use token::Token;
