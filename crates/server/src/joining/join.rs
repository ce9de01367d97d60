//! Join of one agent: a join token is exchanged for a credential.

use stoker_model::{Agent, AgentUid, Json, JsonMap, NewAgent, NewNode, Node, NodeId, normal_mac};
use stoker_services::nodes::{AgentOrigin, note_joined_machine};
use stoker_store::{Session, WriteTransaction};

use super::Joining;
use super::certificate::issue_certificate;
use crate::access::login::random_secret;
use crate::access::token::Secret;
use crate::http::client::Peer;
use crate::http::error::{ApiError, ApiResult};

/// Rate limiter key for guesses of join tokens.
pub(crate) const GUESSING: &str = "(join token)";

pub(crate) struct Join {
    pub(crate) token: Secret,
    pub(crate) node: Option<String>,
    pub(crate) version: String,
    pub(crate) certificate_request: Option<String>,
    pub(crate) facts: JsonMap,
    pub(crate) origin: AgentOrigin,
}

/// Credential with which an agent connects after joining.
pub(crate) struct Credential {
    pub(crate) node_uid: AgentUid,
    pub(crate) secret: Secret,
    /// PEM certificate chain; present if the agent requested one and the server has a certificate authority.
    pub(crate) certificate: Option<String>,
}

/// Result of a join, valid once the transaction is committed.
pub(super) struct Joined {
    pub(super) credential: Credential,
    pub(super) agent: Agent,
    /// Digest of the replaced credential.
    pub(super) former: Option<String>,
    /// The agent runs on another machine than the previous one, whose applied states are invalid now.
    pub(super) is_replaced: bool,
}

pub(super) async fn admit(
    joining: &Joining,
    writing: &mut WriteTransaction,
    join: &Join,
    peer: Peer,
) -> ApiResult<Joined> {
    let Some(may_replace) = writing.join_token_use(&join.token.digest()).await? else {
        // The error below is returned in any case; only later attempts are throttled.
        _ = joining.access.failures.begin(GUESSING, peer.0, writing.now());
        return Err(ApiError::unauthorized("the join token is unknown, expired or used up"));
    };
    let JoinTarget { node_id, is_by_mac } = node_of(writing, join, peer).await?;
    let uid = node_id.map_or_else(AgentUid::master, AgentUid::from);
    let former = writing.agent_digest(&uid).await?;
    let is_taken = uid.is_master() || former.is_some();
    if is_taken && !may_replace {
        let cause = if is_by_mac { ", which has the MAC address of this machine" } else { "" };
        return Err(ApiError::forbidden(format!(
            "this token does not allow replacing the agent of `{uid}`{cause}; create one with `may_replace`, or revoke \
             the old agent first"
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
        Some(request) => issue_certificate(joining.tls.as_deref(), writing, &agent, request).await?,
        None => None,
    };
    let is_replaced = note_joined_machine(writing, &uid, former.is_some(), join.origin.clone()).await?;
    let credential = Credential { node_uid: uid, secret, certificate };
    Ok(Joined { credential, agent, former, is_replaced })
}

/// Readmits the agent of a revoked node, if the token allows it.
async fn readmit(writing: &mut WriteTransaction, id: NodeId, may_replace: bool) -> ApiResult<()> {
    if !writing.node_is_revoked(id).await? {
        return Ok(());
    }
    if !may_replace {
        return Err(ApiError::forbidden(format!(
            "node {id} is revoked; use a join token with `may_replace` to readmit its agent"
        )));
    }
    Ok(writing.node_readmit(id).await?)
}

/// The node that an agent belongs to.
struct JoinTarget {
    /// Node of the agent; `None` for the master.
    node_id: Option<NodeId>,
    /// The node was identified by its MAC address, not by name.
    is_by_mac: bool,
}

async fn node_of(writing: &mut WriteTransaction, join: &Join, peer: Peer) -> ApiResult<JoinTarget> {
    if join.node.as_deref() == Some(AgentUid::MASTER) {
        return Ok(JoinTarget { node_id: None, is_by_mac: false });
    }
    let mac = join.facts.get("mac").and_then(Json::as_str).and_then(normal_mac);
    let mut node = match &join.node {
        Some(name) => find_node(writing, name).await?,
        None => None,
    };
    // The node may have been discovered under another name.
    let is_by_mac = node.is_none() && mac.is_some();
    if let (None, Some(mac)) = (&node, &mac) {
        node = writing.node_by_mac(mac).await?;
    }
    match (node, mac) {
        (Some(node), _) => Ok(JoinTarget { node_id: Some(node.id), is_by_mac }),
        (None, Some(mac)) => {
            let node_id = Some(create(writing, join, mac, peer).await?);
            Ok(JoinTarget { node_id, is_by_mac: false })
        }
        (None, None) => Err(ApiError::bad_request(match &join.node {
            Some(name) => format!(
                "there is no node `{name}`, and it cannot be created without a MAC address in `facts.mac`; discover it \
                 first (POST /api/v1/nodes), or name a node by id, hostname, name or MAC address"
            ),
            None => {
                "the node is not identified; set `node`, or send its MAC address in `facts.mac`".to_owned()
            }
        })),
    }
}

async fn find_node(session: &mut Session, name: &str) -> ApiResult<Option<Node>> {
    if let Some(id) = NodeId::parse(name) {
        return Ok(session.node_get(id).await?);
    }
    if let Some(mac) = normal_mac(name) {
        return Ok(session.node_by_mac(&mac).await?);
    }
    let mut meant = session.nodes_by_name(name, 2).await?;
    if meant.len() > 1 {
        return Err(ApiError::conflict(format!("several nodes are named `{name}`; use the node id")));
    }
    Ok(meant.pop())
}

async fn create(writing: &mut WriteTransaction, join: &Join, mac: String, peer: Peer) -> ApiResult<NodeId> {
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
