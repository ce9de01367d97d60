//! Reading a file of a repository.

use std::path::PathBuf;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use stoker_model::{NodeId, Permission, Plugin};
use stoker_packages::{Repository, normalize_path};
use stoker_services::plugins::files::spawn_blocking_io;
use stoker_services::repositories::node_of;
use stoker_store::Session;

use super::file::FileResponse;
use crate::access::caller::login_of;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

pub(crate) const ROUTE: &str = "/packages/{folder}/{*path}";
/// Rate limiter key for guesses of node passwords.
const GUESSING: &str = "(packages)";

/// The authenticated reader of a file: a node or a user.
enum Reader {
    Node(NodeId),
    /// A user who may read all packages.
    Person,
}

pub(crate) async fn serve(
    State(app): State<App>,
    peer: Peer,
    method: Method,
    headers: HeaderMap,
    Path((folder, path)): Path<(String, String)>,
) -> ApiResult<Response> {
    let reader = reader(&app, peer, &headers).await?;
    let plugin = {
        let mut session = app.store.read().await?;
        let plugin = plugin_in(&mut session, &folder).await?;
        if let Reader::Node(node) = reader {
            require_enabled(&mut session, node, &plugin).await?;
        }
        plugin
    };
    let (repository, file) = file_of(&app, &folder, &plugin, &path)?;
    FileResponse::open(repository, file).await?.answer(&method, &headers)
}

async fn reader(app: &App, peer: Peer, headers: &HeaderMap) -> ApiResult<Reader> {
    if let Some((node, password)) = shown_by_node(headers) {
        let is_right = is_right(app, node, &password).await?;
        return if is_right { Ok(Reader::Node(node)) } else { Err(wrong(app, peer)) };
    }
    let login = login_of(&app.access, headers, peer.0).await;
    login.require(Permission::Read).map(|_| Reader::Person).map_err(with_challenge)
}

/// Asks for Basic authentication: package managers send credentials only when challenged.
fn with_challenge(error: ApiError) -> ApiError {
    if error.status() != StatusCode::UNAUTHORIZED {
        return error;
    }
    let realm = HeaderValue::from_static("Basic realm=\"packages of plugins\"");
    error.with_header(header::WWW_AUTHENTICATE, realm)
}

fn shown_by_node(headers: &HeaderMap) -> Option<(NodeId, String)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = value.trim().split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(rest.trim()))?.ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (user, password) = decoded.split_once(':')?;
    Some((node_of(user)?, password.to_owned()))
}

async fn is_right(app: &App, node: NodeId, password: &str) -> ApiResult<bool> {
    let mut session = app.store.read().await?;
    if session.node_get(node).await?.is_none() {
        return Ok(false);
    }
    let agent = session.agent_by_uid(&node.into()).await?;
    Ok(app.services.repositories.access.verify(node, agent.as_ref(), password))
}

/// Counts a failed attempt and returns the error. Only failures are rate-limited, because a whole fleet may
/// read from behind one address.
fn wrong(app: &App, peer: Peer) -> ApiError {
    match app.access.failures.begin(GUESSING, peer.0, app.clock.now()) {
        Ok(()) => with_challenge(ApiError::unauthorized(
            "unknown node or wrong password; deploy the cluster again to renew the credential",
        )),
        Err(seconds) => {
            let error =
                ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too many wrong passwords; try again later");
            error.with_header(header::RETRY_AFTER, seconds.into())
        }
    }
}

async fn plugin_in(session: &mut Session, folder: &str) -> ApiResult<Plugin> {
    let id = session.plugin_folders().await?.get(folder).copied();
    let plugin = match id {
        Some(id) => session.plugin_get(id).await?,
        None => None,
    };
    plugin.ok_or_else(|| ApiError::not_found("Plugin"))
}

async fn require_enabled(session: &mut Session, node: NodeId, plugin: &Plugin) -> ApiResult<()> {
    let node = session.node_get(node).await?;
    let links = match node.and_then(|node| node.cluster_id) {
        Some(cluster) => session.cluster_plugins(cluster).await?,
        None => Vec::new(),
    };
    if links.iter().any(|link| link.plugin_id == plugin.id && link.enabled) {
        return Ok(());
    }
    Err(ApiError::forbidden("the plugin is not enabled in the cluster of this node"))
}

/// Resolves the directory of the repository and the path of a file in it. Only visible files inside a repository are served.
fn file_of(app: &App, folder: &str, plugin: &Plugin, path: &str) -> ApiResult<(PathBuf, PathBuf)> {
    let missing = || ApiError::not_found("File");
    let path = normalize_path(path).filter(|path| !path.split('/').any(|part| part.starts_with('.')));
    let path = path.filter(|path| !path.contains(['\\', '\0'])).ok_or_else(missing)?;
    let is_inside = |repository: &Repository| {
        path.strip_prefix(&repository.path).is_some_and(|rest| rest.starts_with('/'))
    };
    let repositories = Repository::for_plugin(&plugin.body);
    let repository = repositories.iter().find(|repository| is_inside(repository)).ok_or_else(missing)?;
    let folder = app.services.packages.root().folder(folder);
    Ok((folder.join(&repository.path), folder.join(&path)))
}

impl FileResponse {
    /// Opens a file that must be inside a directory after resolving symbolic links.
    async fn open(folder: PathBuf, path: PathBuf) -> ApiResult<Self> {
        let opened = spawn_blocking_io(move || Self::open_inside(&folder, &path)).await?;
        opened.ok_or_else(|| ApiError::not_found("File"))
    }
}
