//! Servers under test: one in this process, one as a separate process.

use std::error::Error;
use std::path::Path;
use std::process::Stdio;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use stoker_model::Json;
use stoker_server::{App, AppService};
use stoker_settings::{Modules, Secret, Server};
use stoker_store::{Database, Store};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tower::ServiceExt as _;

use crate::http::{once, request};
use crate::usage;

const PASSWORD: &str = "bench";

/// An HTTP server to send requests to.
pub(crate) trait Api {
    /// Sends a request; fails unless the response is a success.
    async fn call(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Vec<u8>, Box<dyn Error>>;

    async fn json(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Json, Box<dyn Error>> {
        let answer = self.call(method, path, body).await?;
        if answer.is_empty() { Ok(Json::Null) } else { Ok(serde_json::from_slice(&answer)?) }
    }

    /// Sends a POST and returns the id in the response.
    async fn create(&self, path: &str, body: &Json) -> Result<i64, Box<dyn Error>> {
        let answer = self.json("POST", path, Some(body)).await?;
        answer["id"].as_i64().ok_or_else(|| format!("the response to POST {path} has no id").into())
    }
}

/// The service without a socket, logged in.
pub(crate) struct InProcess {
    pub(crate) app: App,
    service: AppService,
    token: String,
    _folder: TempDir,
}

impl InProcess {
    pub(crate) async fn start() -> Result<Self, Box<dyn Error>> {
        Self::with(Server::default()).await
    }

    pub(crate) async fn with(settings: Server) -> Result<Self, Box<dyn Error>> {
        let folder = TempDir::new()?;
        let store = Store::open(&Database::Sqlite { path: folder.path().join("bench.db") }).await?;
        let modules = Modules { key_file: folder.path().join(Modules::KEY_FILE), ..settings.modules.clone() };
        let settings = Server { modules, admin_password: Some(Secret::new(PASSWORD.to_owned())), ..settings };
        let (app, _) = App::new(store, settings).await?;
        let service = stoker_server::service(&app);
        let mut server = Self { app, service, token: String::new(), _folder: folder };
        let answer = server.call("POST", "/keystone/v2.0/tokens", Some(&login())).await?;
        server.token = token(&answer)?;
        Ok(server)
    }

    /// Returns the size of a response, read frame by frame as a socket would.
    pub(crate) async fn read(&self, path: &str) -> Result<usize, Box<dyn Error>> {
        let request = Request::get(path).header("x-auth-token", &self.token).body(Body::empty())?;
        let response = self.service.clone().oneshot(request).await?;
        if !response.status().is_success() {
            return Err(format!("GET {path}: {}", response.status()).into());
        }
        let (mut body, mut n_bytes) = (response.into_body(), 0);
        while let Some(frame) = body.frame().await {
            n_bytes += frame?.data_ref().map_or(0, axum::body::Bytes::len);
        }
        Ok(n_bytes)
    }
}

impl Api for InProcess {
    async fn call(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Vec<u8>, Box<dyn Error>> {
        let text = body.map(Json::to_string).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("x-auth-token", &self.token)
            .header("content-type", "application/json")
            .body(Body::from(text))?;
        let response = self.service.clone().oneshot(request).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes().to_vec();
        if !status.is_success() {
            return Err(format!("{method} {path}: {status} {}", String::from_utf8_lossy(&bytes)).into());
        }
        Ok(bytes)
    }
}

/// `stoker serve` with its own empty directory; killed on drop.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Process {
    pub(crate) async fn start(program: &Path) -> Result<Self, Box<dyn Error>> {
        Self::with(program, &[]).await
    }

    /// Starts with additional options.
    pub(crate) async fn with(program: &Path, options: &[&str]) -> Result<Self, Box<dyn Error>> {
        let folder = TempDir::new()?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--data-dir").arg(folder.path()).args(options);
        Self::launch(command, folder).await
    }

    /// Starts with PostgreSQL instead of SQLite.
    pub(crate) async fn on_postgres(
        program: &Path,
        url: &str,
        options: &[&str],
    ) -> Result<Self, Box<dyn Error>> {
        let folder = TempDir::new()?;
        let mut command = Command::new(program);
        command.arg("serve").args(options).env("STOKER_DATABASE_URL", url);
        command.env("XDG_DATA_HOME", folder.path());
        Self::launch(command, folder).await
    }

    async fn launch(mut command: Command, folder: TempDir) -> Result<Self, Box<dyn Error>> {
        let mut child = command
            .args(["--listen", "127.0.0.1:0"])
            .env("STOKER_LOG", "error")
            .env("STOKER_ADMIN_PASSWORD", PASSWORD)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stderr = child.stderr.take().ok_or("the server has no standard error")?;
        let mut lines = BufReader::new(stderr).lines();
        while let Some(line) = lines.next_line().await? {
            if let Some((_, rest)) = line.split_once("listens on http://") {
                let address = rest.split_whitespace().next().unwrap_or_default().to_owned();
                // Later errors of the server are printed next to the results.
                tokio::spawn(async move {
                    while let Ok(Some(line)) = lines.next_line().await {
                        eprintln!("server: {line}");
                    }
                });
                return Ok(Self { child, address, _folder: folder });
            }
        }
        Err("the server ended before it listened".into())
    }

    pub(crate) fn id(&self) -> Result<u32, Box<dyn Error>> {
        Ok(self.child.id().ok_or("the server has ended")?)
    }

    /// Returns the resident memory in MiB.
    pub(crate) fn resident_mib(&self) -> Result<f64, Box<dyn Error>> {
        usage::resident_mib(self.id()?)
    }

    pub(crate) async fn log_in(&self) -> Result<Remote, Box<dyn Error>> {
        let remote = Remote { address: self.address.clone(), token: String::new() };
        let token = token(&remote.call("POST", "/keystone/v2.0/tokens", Some(&login())).await?)?;
        Ok(Remote { token, ..remote })
    }
}

/// An authenticated HTTP client.
pub(crate) struct Remote {
    address: String,
    token: String,
}

impl Api for Remote {
    async fn call(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Vec<u8>, Box<dyn Error>> {
        let answer = once(&self.address, &request(method, path, &self.token, body)).await;
        answer.map_err(|error| format!("{method} {path}: {error}").into())
    }
}

pub(crate) fn login() -> Json {
    serde_json::json!({"auth": {"passwordCredentials": {"username": "admin", "password": PASSWORD}}})
}

pub(crate) fn token(answer: &[u8]) -> Result<String, Box<dyn Error>> {
    let answer: Json = serde_json::from_slice(answer)?;
    let token =
        answer.pointer("/access/token/id").and_then(Json::as_str).ok_or("the login response has no token")?;
    Ok(token.to_owned())
}
