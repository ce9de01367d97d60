//! HTTP requests: method, path, query and body.

use std::fmt::{self, Write as _};
use std::fs::File;

use serde_json::Value as Json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// Request body.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    Nothing,
    Json(&'a Json),
    /// YAML as written by a user, so that line numbers in errors match their file.
    Yaml(&'a str),
    /// JSON as written by a user.
    JsonText(&'a str),
    /// Other content with its media type.
    Bytes(&'a str, &'a [u8]),
    /// A file with its media type, streamed because it may not fit into memory.
    File(&'a str, &'a File),
}

/// A request. The path is relative to `/api/v1/`, or absolute if it starts with a slash.
#[derive(Clone, Debug)]
pub struct RestRequest<'a> {
    pub(crate) method: Method,
    pub(crate) path: String,
    query: Vec<(String, String)>,
    pub(crate) body: Body<'a>,
    pub(crate) accept: &'a str,
    pub(crate) headers: Vec<(&'static str, &'a str)>,
}

impl<'a> RestRequest<'a> {
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            body: Body::Nothing,
            accept: "application/json",
            headers: Vec::new(),
        }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::Get, path)
    }

    /// Adds a query parameter.
    #[expect(clippy::needless_pass_by_value, reason = "accepts numbers and strings without a borrow")]
    pub fn query(mut self, name: &str, value: impl ToString) -> Self {
        self.query.push((name.to_owned(), value.to_string()));
        self
    }

    /// Adds a query parameter if there is a value.
    pub fn query_opt(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    pub fn body(self, body: Body<'a>) -> Self {
        Self { body, ..self }
    }

    /// Sets the accepted media type; the default is JSON.
    pub fn accept(self, accept: &'a str) -> Self {
        Self { accept, ..self }
    }

    /// Adds a header, which is not logged.
    pub(crate) fn header(mut self, name: &'static str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.accept == EVENT_STREAM
    }

    pub(crate) fn path_and_query(&self) -> String {
        let prefix = if self.path.starts_with('/') { "" } else { "/api/v1/" };
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{prefix}{}{mark}{query}", self.path)
    }
}

/// Formats the request as a log line.
impl fmt::Display for RestRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.path_and_query())
    }
}

/// Percent-encodes a name as one path segment.
pub fn encode_segment(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(byte.into());
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
    // Unencoded they would change the path.
    if out == "." || out == ".." { out.replace('.', "%2E") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_percent_encoded() {
        assert_eq!(encode_segment("a-b_c.d~9"), "a-b_c.d~9");
        assert_eq!(encode_segment("../x?y#z ä"), "..%2Fx%3Fy%23z%20%C3%A4");
        assert_eq!(encode_segment(".."), "%2E%2E");
    }

    #[test]
    fn query_follows_path() {
        let request =
            RestRequest::get("graphs").query("a", "x&y").query_opt("b", Some(1)).query_opt("c", None::<i64>);
        assert_eq!(request.path_and_query(), "/api/v1/graphs?a=x%26y&b=1");
        assert_eq!(RestRequest::get("/keystone").path_and_query(), "/keystone");
    }
}
