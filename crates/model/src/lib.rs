//! Domain types of Stoker: ids, names and records, with their validity rules.
//!
//! Records are independent of how they are stored, sent or displayed: they derive no serialization, so that
//! the database schema, the REST API and the agent protocol can evolve independently. Free-form parts of a
//! record (settings, metadata, task fields) are [`Json`].

mod access;
mod agent;
mod agent_uid;
mod applied;
mod audit;
mod cluster;
mod drift;
mod error_chain;
mod error_codes;
mod fit;
mod graph;
mod graph_source;
mod group;
mod ids;
mod idx;
mod link;
mod mac;
mod module;
mod names;
mod node;
mod node_facts;
mod plan;
mod plugin;
mod quota;
mod release;
mod release_version;
mod run;
mod sequence;
mod task;
mod task_report;
mod time;
mod user;
mod webhook;

pub use access::{Caller, Permission, Role};
pub use agent::{Agent, JoinToken, NewAgent, NewAgentCertificate, NewJoinToken};
pub use agent_uid::AgentUid;
pub use applied::{
    AgentMachine, AppliedGroup, AppliedInputs, AppliedMark, AppliedSuccess, OnDefinitionChange, Snapshot,
    TaintCause,
};
pub use audit::{Actor, AuditChange, AuditEntry};
pub use cluster::{
    CLUSTER_MODES, Cluster, ClusterPlugin, ClusterStatus, FactsKind, MergeMode, MergeOrder, NewCluster,
    SEGMENTATION_DEFAULT,
};
pub use drift::{AppliedInstances, DriftCheck, DriftCounts, DriftResult, DriftStatus, OnDrift};
pub use error_chain::ErrorChain;
pub use error_codes::codes;
pub use fit::{CompatibilityTarget, compare_versions};
pub use graph::{Graph, GraphMetadata, Owner, OwnerKind};
pub use graph_source::GraphSource;
pub use group::{AgentConnectionChange, AgentHost, QueuedPeerMessage, ServerRecord};
pub use ids::{
    AgentId, AuditId, ClusterId, DeliveryId, DocumentId, DriftCheckId, GraphId, JoinTokenId, LinkId,
    ModuleId, NodeId, NotificationId, PlanId, PluginId, ReleaseId, RunId, SequenceId, SnapshotId, TaskId,
    TenantId, TokenId, UserId, WebhookId,
};
pub use idx::{GroupIdx, Idx, InstanceIdx, NodeIdx, TaskIdx, VertexIdx};
pub use link::{Link, LinkBody, LinkOwner};
pub use mac::normal_mac;
pub use module::{
    EncryptedContents, Module, ModuleAction, ModuleBody, ModuleItem, ModuleRun, ModuleStatus, NodeModule,
};
pub use names::{GraphType, InvalidGraphType};
pub use node::{NewNode, Node, NodeErrorKind, NodeStatus};
pub use node_facts::{NodeFacts, merge_json};
pub use plan::{NewPlan, PlanRecord};
pub use plugin::{NewPlugin, PLUGIN_SCRIPTS_ROOT, Plugin};
pub use quota::{Quotas, Resource};
pub use release::{NewRelease, Release, ReleaseState};
pub use release_version::compare_release_versions;
pub use run::{
    HistoryRecord, HistoryStatus, NewRun, OutputChunk, Run, RunEnd, RunEvent, RunExecution, RunName,
    RunStatus,
};
pub use sequence::{NewSequence, Sequence, SequenceGraph};
pub use task::{
    PLACEMENT_FIELDS, StoredTask, StrategyType, TASK_FIELDS, Task, TaskField, TaskType, canonical_field,
    placement_field,
};
pub use task_report::{Change, HostDifference, TaskReport};
pub use time::Micros;
pub use user::{NewTenant, NewToken, NewUser, Tenant, TenantRef, Token, User};
pub use webhook::{
    DeliveryAttempt, DeliveryStatus, NewNotification, Notification, Topic, Webhook, WebhookBody,
    WebhookDelivery,
};

/// A JSON document without source positions; keys keep their order.
pub type Json = serde_json::Value;
pub type JsonMap = serde_json::Map<String, Json>;

/// Defines an enumeration whose names are the same in the database, the API and the web UI.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident => $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enum_names_round_trip() {
        fn check<T: Copy + PartialEq + std::fmt::Debug>(
            all: &[T],
            names: &[&str],
            as_str: fn(T) -> &'static str,
            parse: fn(&str) -> Option<T>,
        ) {
            for (word, name) in all.iter().zip(names) {
                assert_eq!(as_str(*word), *name);
                assert_eq!(parse(name), Some(*word));
            }
            assert_eq!(parse("no such word"), None);
        }
        check(ClusterStatus::ALL, ClusterStatus::NAMES, ClusterStatus::as_str, ClusterStatus::parse);
        check(NodeStatus::ALL, NodeStatus::NAMES, NodeStatus::as_str, NodeStatus::parse);
        check(Permission::ALL, Permission::NAMES, Permission::as_str, Permission::parse);
        check(Role::ALL, Role::NAMES, Role::as_str, Role::parse);
        check(RunEnd::ALL, RunEnd::NAMES, RunEnd::as_str, RunEnd::parse);
        check(RunName::ALL, RunName::NAMES, RunName::as_str, RunName::parse);
        check(
            OnDefinitionChange::ALL,
            OnDefinitionChange::NAMES,
            OnDefinitionChange::as_str,
            OnDefinitionChange::parse,
        );
        check(TaintCause::ALL, TaintCause::NAMES, TaintCause::as_str, TaintCause::parse);
        check(Topic::ALL, Topic::NAMES, Topic::as_str, Topic::parse);
        check(TaskType::ALL, TaskType::NAMES, TaskType::as_str, TaskType::parse);
    }
}
