//! A server in the test process: requests go to its service without a socket, and its database starts empty.

use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use stoker_server::{App, AppService};
use stoker_settings::{Modules, Secret, Server};
use stoker_store::{Database, Store};
use stoker_testkit::{TempFolder, TestDatabase};
use tower::ServiceExt;

/// A decoded HTTP response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: axum::http::HeaderMap,
    /// Null when the response has no body; a string when it is not JSON.
    pub(crate) body: Value,
}

impl Reply {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }

    /// Asserts the status and the error envelope of the API; returns the message.
    #[track_caller]
    pub(crate) fn expect_error(self, status: u16) -> String {
        let body = self.expect(status);
        assert!(body["errors"].is_array(), "{body}");
        body["message"].as_str().expect("a message").to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

pub(crate) struct TestServer {
    pub(crate) app: App,
    service: AppService,
    token: String,
    _folder: TempFolder,
    postgres: Option<TestDatabase>,
}

impl TestServer {
    /// Creates a server with default settings; its requests are authenticated as the admin.
    pub(crate) async fn new() -> Self {
        Self::with_settings(Server::default()).await
    }

    pub(crate) async fn with_settings(settings: Server) -> Self {
        let folder = TempFolder::new();
        let postgres = if is_postgres_selected() { TestDatabase::create().await } else { None };
        let embedded = || Database::Sqlite { path: folder.file("stoker.db") };
        let database = postgres.as_ref().map_or_else(embedded, TestDatabase::database);
        let store = Box::pin(Store::open(&database)).await.unwrap();
        let modules = Modules { key_file: folder.file("modules.key"), ..settings.modules.clone() };
        let settings = Server {
            modules,
            admin_password: Some(Secret::new("secret".to_owned())),
            plugins_root: folder.file("plugins"),
            ..settings
        };
        let (app, _) = Box::pin(App::new(store, settings)).await.unwrap();
        let service = stoker_server::service(&app);
        let mut server = Self { app, service, token: String::new(), _folder: folder, postgres };
        server.token = server.log_in("admin", "secret").await;
        server
    }

    pub(crate) async fn log_in(&self, name: &str, password: &str) -> String {
        let body = json!({"auth": {"passwordCredentials": {"username": name, "password": password}}});
        let reply = self.post("/keystone/v2.0/tokens", &body).await.expect(200);
        reply["access"]["token"]["id"].as_str().expect("a token").to_owned()
    }

    /// Replaces the token of the admin, which an update of the user revokes.
    pub(crate) async fn log_in_again(&mut self) {
        self.token = self.log_in("admin", "secret").await;
    }

    /// Creates a user, and its tenant unless it exists, and returns a token of the user.
    pub(crate) async fn create_user(&self, name: &str, tenant: &str, role: &str) -> String {
        let status = self.post("tenants", &json!({"name": tenant})).await.status;
        assert!(status == 201 || status == 409);
        let user = json!({"name": name, "password": "pass", "tenant": tenant, "roles": [role]});
        self.post("users", &user).await.expect(201);
        self.log_in(name, "pass").await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request("GET", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(self.request("POST", path).body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Reply {
        self.send(self.request("PUT", path).body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.send(self.request("PATCH", path).body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send(self.request("DELETE", path).body(Body::empty()).unwrap()).await
    }

    /// Returns a request builder with the admin's token.
    pub(crate) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        request(method, path).header("x-auth-token", &self.token)
    }

    /// Sends a request with the given token instead of the admin's.
    pub(crate) async fn send_as(&self, token: &str, method: &str, path: &str, body: &Value) -> Reply {
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        self.send(request(method, path).header("x-auth-token", token).body(body).unwrap()).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.service.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let is_json =
            parts.headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
        let body = match &bytes[..] {
            [] => Value::Null,
            bytes if is_json => serde_json::from_slice(bytes).unwrap(),
            bytes => Value::from(String::from_utf8_lossy(bytes)),
        };
        Reply { status: parts.status.as_u16(), headers: parts.headers, body }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(postgres) = self.postgres.take() {
            postgres.drop_database();
        }
    }
}

/// Returns an unauthenticated request builder.
pub(crate) fn request(method: &str, path: &str) -> axum::http::request::Builder {
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/{path}") };
    Request::builder().method(method).uri(path)
}

#[expect(clippy::disallowed_methods, reason = "the environment selects the engine under test")]
fn is_postgres_selected() -> bool {
    std::env::var("STOKER_TEST_ENGINE").is_ok_and(|engine| engine == "postgres")
}
