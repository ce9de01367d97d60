//! An agent comes in: a token for a credential of its own.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use stoker_manifest::reader::{json_map, nullable, string_of};
use stoker_model::{Agent, Json, JsonMap, NewAgent, NewNode, Node, NodeId};
use stoker_store::{Session, Writing};
use utoipa::ToSchema;

use super::certificate::{self, REQUEST_MAX};
use super::joining::come_in;
use crate::access::login::random_secret;
use crate::access::token::Secret;
use crate::api::nodes::normal_mac;
use crate::http::answer::Answer;
use crate::http::body::SmallDocument;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};
use crate::runs::MASTER;
use crate::state::App;

/// Who guesses join tokens is slowed down under this name.
const GUESSING: &str = "(join token)";

#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
struct JoinBody {
    #[schema(example = "stk_…")]
    token: String,
    /// Its node: id, hostname, name or MAC address; `master` for the master. Not given: the node with the MAC address
    /// in `facts`, which is made if there is none.
    #[schema(example = "node-7")]
    node: Option<String>,
    #[schema(example = "0.1.0")]
    version: Option<String>,
    /// A PKCS #10 request in PEM form with a key of the kind ECDSA P-256, for a certificate; where the server has no
    /// authority it means nothing.
    #[schema(example = "-----BEGIN CERTIFICATE REQUEST-----…")]
    certificate_request: Option<String>,
    /// What it found out about its machine.
    #[schema(value_type = Object, example = json!({"hostname": "node-7", "mac": "52:54:00:12:34:56"}))]
    facts: JsonMap,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Joined)]
pub(super) struct JoinedView {
    /// What it is called from now on.
    #[schema(example = "7")]
    node_uid: String,
    /// With what it connects; this answer is the only place where it can be read.
    #[schema(example = "stk_…")]
    credential: String,
    /// What it shows when it connects, in PEM form with its authority; there if it asked and the server has an authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<String>,
}

pub(super) struct Join {
    token: Secret,
    node: Option<String>,
    version: String,
    certificate_request: Option<String>,
    facts: JsonMap,
}

/// Come in as the agent of a node, with a join token
#[utoipa::path(
    post, path = "/api/v1/agents/join", request_body = JoinBody,
    responses(
        (status = 201, body = JoinedView),
        (status = 401, body = crate::http::error::Envelope, description = "The token is not good"),
        (status = 403, body = crate::http::error::Envelope, description = "Another agent is there, and the token lets none take its place"),
        (status = 409, body = crate::http::error::Envelope, description = "Several nodes have this name"),
        (status = 429, body = crate::http::error::Envelope, description = "Too many wrong tokens"),
    )
)]
pub(super) async fn agent_join(
    State(app): State<App>,
    peer: Peer,
    document: SmallDocument,
) -> ApiResult<Answer<JoinedView>> {
    let join = document.0.fields(|fields| {
        let token = fields.required("token", string_of(1..=255));
        let node = fields.optional("node", nullable(string_of(1..=255))).flatten();
        let version = fields.optional("version", nullable(string_of(1..=255))).flatten();
        let certificate_request =
            fields.optional("certificate_request", nullable(string_of(1..=REQUEST_MAX))).flatten();
        let facts = fields.optional("facts", nullable(json_map)).flatten().unwrap_or_default();
        let version = version.unwrap_or_default();
        Some(Join { token: Secret::new(&token?), node, version, certificate_request, facts })
    })?;
    let now = app.clock.now();
    if let Err(seconds) = app.failures.check(GUESSING, peer.0, now) {
        let error =
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too many wrong join tokens; try again later");
        return Err(error.with_header(header::RETRY_AFTER, HeaderValue::from(seconds)));
    }
    Ok(Answer::created(come_in(&app, join, peer).await?))
}

/// An agent that is in as soon as what was written is committed.
pub(super) struct Joined {
    pub(super) view: JoinedView,
    pub(super) agent: Agent,
    /// The digest of the credential that it took the place of.
    pub(super) former: Option<String>,
}

pub(super) async fn let_in(app: &App, writing: &mut Writing, join: &Join, peer: Peer) -> ApiResult<Joined> {
    let Some(may_replace) = writing.join_token_use(&join.token.digest()).await? else {
        // Told below in any case; the next one may have to wait.
        _ = app.failures.begin(GUESSING, peer.0, writing.now());
        return Err(ApiError::unauthorized("the join token is not known, has expired or is used up"));
    };
    let Meant { node_id, is_by_mac } = node_of(writing, join, peer).await?;
    let uid = node_id.map_or_else(|| MASTER.to_owned(), |id| id.to_string());
    let former = writing.agent_digest(&uid).await?;
    let is_taken = uid == MASTER || former.is_some();
    if is_taken && !may_replace {
        let known = if is_by_mac { ", which has the MAC address of this machine" } else { "" };
        return Err(ApiError::forbidden(format!(
            "this token lets no agent take the place of `{uid}`{known}; make one with `may_replace`, or send the old agent \
             away first"
        )));
    }
    if let Some(id) = node_id {
        readmit(writing, id, may_replace).await?;
    }
    let secret = random_secret()?;
    let new = NewAgent {
        uid: uid.clone(),
        node_id,
        digest: secret.digest(),
        version: join.version.clone(),
        joined_at: writing.now(),
    };
    let agent = writing.agent_put(&new).await?;
    let certificate = match &join.certificate_request {
        Some(request) => certificate::issue(app, writing, &agent, request).await?,
        None => None,
    };
    let view = JoinedView { node_uid: uid, credential: secret.reveal().to_owned(), certificate };
    Ok(Joined { view, agent, former })
}

/// Lets agents of a node that was cut off come in again, if they may.
async fn readmit(writing: &mut Writing, id: NodeId, may_replace: bool) -> ApiResult<()> {
    if !writing.node_is_revoked(id).await? {
        return Ok(());
    }
    if !may_replace {
        return Err(ApiError::forbidden(format!(
            "node {id} was cut off; a token with `may_replace` lets an agent of it in again"
        )));
    }
    Ok(writing.node_readmit(id).await?)
}

/// Whose agent it is.
struct Meant {
    /// `None`: the master's.
    node_id: Option<NodeId>,
    /// It was not found under its name.
    is_by_mac: bool,
}

async fn node_of(writing: &mut Writing, join: &Join, peer: Peer) -> ApiResult<Meant> {
    if join.node.as_deref() == Some(MASTER) {
        return Ok(Meant { node_id: None, is_by_mac: false });
    }
    let mac = join.facts.get("mac").and_then(Json::as_str).and_then(normal_mac);
    let mut found = match &join.node {
        Some(name) => named(writing, name).await?,
        None => None,
    };
    // Whoever discovered the node may have called it otherwise.
    let is_by_mac = found.is_none() && mac.is_some();
    if let (None, Some(mac)) = (&found, &mac) {
        found = writing.node_by_mac(mac).await?;
    }
    match (found, mac) {
        (Some(node), _) => Ok(Meant { node_id: Some(node.id), is_by_mac }),
        (None, Some(mac)) => {
            let node_id = Some(create(writing, join, mac, peer).await?);
            Ok(Meant { node_id, is_by_mac: false })
        }
        (None, None) => Err(ApiError::bad_request(match &join.node {
            Some(name) => format!(
                "there is no node `{name}`, and without a MAC address in `facts.mac` none can be made; discover it \
                 first (POST /api/v1/nodes), or name one by id, hostname, name or MAC address"
            ),
            None => "which node is it? Say `node`, or send its MAC address in `facts.mac`".to_owned(),
        })),
    }
}

async fn named(session: &mut Session, name: &str) -> ApiResult<Option<Node>> {
    if let Some(id) = NodeId::parse(name) {
        return Ok(session.node_get(id).await?);
    }
    if let Some(mac) = normal_mac(name) {
        return Ok(session.node_by_mac(&mac).await?);
    }
    let mut meant = session.nodes_named(name, 2).await?;
    if meant.len() > 1 {
        return Err(ApiError::conflict(format!(
            "`{name}` is the name of several nodes; say which by its id"
        )));
    }
    Ok(meant.pop())
}

async fn create(writing: &mut Writing, join: &Join, mac: String, peer: Peer) -> ApiResult<NodeId> {
    let text = |key: &str| join.facts.get(key).and_then(Json::as_str).map(str::to_owned);
    let new = NewNode {
        mac,
        ip: text("ip").or_else(|| Some(peer.0.to_string())),
        name: join.node.clone().or_else(|| text("hostname")),
        hostname: None,
        manufacturer: text("manufacturer"),
        platform_name: text("platform_name"),
        os_platform: text("os_platform").or_else(|| {
            let os = join.facts.get("os").and_then(|os| os.get("id"));
            os.and_then(Json::as_str).map(str::to_owned)
        }),
        labels: JsonMap::new(),
        meta: JsonMap::new(),
        facts: join.facts.clone(),
    };
    Ok(writing.node_create(&new).await?.id)
}
