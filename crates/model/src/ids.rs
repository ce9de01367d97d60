//! One type per resource for its ids, so that a node cannot be looked up by the id of its cluster.

use std::fmt;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl $name {
            /// Parses an id of a request: a positive integer.
            pub fn parse(text: &str) -> Option<Self> {
                text.parse().ok().filter(|id| *id > 0).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    AgentId,
    AuditId,
    ClusterId,
    /// A webhook delivery.
    DeliveryId,
    /// A stored document of a state.
    DocumentId,
    DriftCheckId,
    GraphId,
    JoinTokenId,
    LinkId,
    ModuleId,
    NodeId,
    NotificationId,
    PlanId,
    PluginId,
    ReleaseId,
    /// A run, or a child run that executes one graph.
    RunId,
    SequenceId,
    /// The documents of a plan or an applied state.
    SnapshotId,
    /// A row of a task; a changed task gets a new row.
    TaskId,
    TenantId,
    TokenId,
    UserId,
    WebhookId,
}
