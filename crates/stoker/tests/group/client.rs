//! REST client; its token is valid on all servers of the group.

use std::io::Read as _;

use serde_json::{Value, json};
use ureq::Agent;

pub(crate) const PASSWORD: &str = "opensesame";

#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    pub(crate) token: String,
}

impl Client {
    pub(crate) fn log_in(address: &str) -> Self {
        let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
        let client = Self { agent, token: String::new() };
        let body = json!({"auth": {"passwordCredentials": {"username": "admin", "password": PASSWORD}}});
        let response = client.expect(200, address, "POST", "/keystone/v2.0/tokens", Some(&body));
        let token = response["access"]["token"]["id"].as_str().unwrap().to_owned();
        Self { token, ..client }
    }

    /// Returns status and body, or an error if the connection was lost.
    pub(crate) fn call(
        &self,
        address: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value), ureq::Error> {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://{address}{path}"))
            .header("x-auth-token", &self.token)
            .header("content-type", "application/json")
            .body(body.map(Value::to_string).unwrap_or_default())
            .unwrap();
        let mut response = self.agent.run(request)?;
        let mut text = String::new();
        response.body_mut().as_reader().read_to_string(&mut text)?;
        Ok((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    #[track_caller]
    pub(crate) fn expect(
        &self,
        status: u16,
        address: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Value {
        let (actual_status, response) = self.call(address, method, path, body).unwrap();
        assert_eq!(actual_status, status, "{method} {path}: {response}");
        response
    }

    /// Reads an event stream to its end in a thread.
    pub(crate) fn watch(&self, address: &str, path: &str) -> std::thread::JoinHandle<String> {
        let request = self.agent.get(format!("http://{address}{path}")).header("x-auth-token", &self.token);
        let mut response = request.header("accept", "text/event-stream").call().unwrap();
        assert_eq!(response.status(), 200);
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // A broken connection ends the stream too.
            _ = response.body_mut().as_reader().read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
}
