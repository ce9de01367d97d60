//! A type for each kind of id, so that a node cannot be looked up by the id of its cluster.

use std::fmt;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl $name {
            /// Ids in requests are positive; anything else names nothing.
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
    /// A message to a webhook.
    DeliveryId,
    /// A document of a state as it is stored.
    DocumentId,
    GraphId,
    JoinTokenId,
    LinkId,
    ModuleId,
    NodeId,
    NotificationId,
    PlanId,
    PluginId,
    ReleaseId,
    /// A run, or the part of a run that executes one graph.
    RunId,
    SequenceId,
    /// A row of a task: a changed task gets another.
    TaskId,
    TenantId,
    TokenId,
    UserId,
    WebhookId,
}
