//! Conversions between Rust types and columns, one per type.

use stoker_model::{
    AgentId, AgentUid, AuditId, ClusterId, ClusterStatus, DeliveryId, DeliveryStatus, DocumentId,
    DriftCheckId, DriftStatus, FactsKind, GraphId, GraphType, HistoryStatus, HostDifference, JoinTokenId,
    Json, JsonMap, LinkId, MergeMode, MergeOrder, Micros, ModuleAction, ModuleId, ModuleStatus,
    NodeErrorKind, NodeId, NodeStatus, NotificationId, OnDefinitionChange, OwnerKind, PlanId, PluginId,
    ReleaseId, ReleaseState, Role, RunId, RunName, RunStatus, SequenceId, SnapshotId, TaintCause, TaskId,
    TenantId, TokenId, Topic, UserId, WebhookId,
};

use super::{Args, Cell};
use crate::StoreError;

/// A type that is stored in one column; an `Option` of it if the column may be NULL.
pub(crate) trait Value: Sized {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError>;
    fn write(&self, args: Args) -> Args;
}

/// A type that is stored in one column, which is not NULL.
pub(crate) trait Scalar: Sized {
    /// Reads a column; `None` if it is NULL.
    fn read_nullable(cell: Cell<'_>) -> Result<Option<Self>, StoreError>;
    fn write_nullable(value: Option<&Self>, args: Args) -> Args;
}

impl<T: Scalar> Value for T {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        T::read_nullable(cell)?.ok_or_else(|| cell.corrupt("unexpected NULL"))
    }

    fn write(&self, args: Args) -> Args {
        T::write_nullable(Some(self), args)
    }
}

impl<T: Scalar> Value for Option<T> {
    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        T::read_nullable(cell)
    }

    fn write(&self, args: Args) -> Args {
        T::write_nullable(self.as_ref(), args)
    }
}

/// Implements [`Scalar`] from an expression that reads a cell and an expression that appends a value.
macro_rules! scalar {
    ($type:ty, |$cell:ident| $read:expr, |$value:ident, $args:ident| $write:expr) => {
        impl Scalar for $type {
            fn read_nullable($cell: Cell<'_>) -> Result<Option<Self>, StoreError> {
                $read
            }

            fn write_nullable($value: Option<&Self>, $args: Args) -> Args {
                $write
            }
        }
    };
}

scalar!(i64, |cell| cell.int(), |value, args| args.opt_int(value.copied()));
scalar!(bool, |cell| cell.bool(), |value, args| args.opt_bool(value.copied()));
scalar!(String, |cell| Ok(cell.str()?.map(str::to_owned)), |value, args| args
    .opt_text(value.map(String::as_str)));
scalar!(AgentUid, |cell| Ok(cell.str()?.map(AgentUid::from)), |value, args| args
    .opt_text(value.map(AgentUid::as_str)));
scalar!(Vec<u8>, |cell| cell.bytes(), |value, args| args.opt_bytes(value.map(Vec::as_slice)));
scalar!(Json, |cell| cell.parse(serde_json::from_str), |value, args| args.opt_json(value));
scalar!(JsonMap, |cell| cell.parse(serde_json::from_str), |value, args| args.opt_map(value));
scalar!(Vec<Json>, |cell| cell.parse(serde_json::from_str), |value, args| args
    .opt_documents(value.map(Vec::as_slice)));
scalar!(Vec<String>, |cell| cell.parse(serde_json::from_str), |value, args| args
    .opt_strings(value.map(Vec::as_slice)));
scalar!(Vec<HostDifference>, |cell| cell.parse(differences), |value, args| {
    let documents = value.map(|diff| diff.iter().map(HostDifference::to_json).collect::<Vec<_>>());
    args.opt_documents(documents.as_deref())
});
scalar!(GraphType, |cell| cell.parse(GraphType::new), |value, args| args
    .opt_text(value.map(GraphType::as_str)));

macro_rules! integers {
    ($($type:ident),+ $(,)?) => {$(
        scalar!($type, |cell| Ok(cell.int()?.map($type)), |value, args| args.opt_int(value.map(|value| value.0)));
    )+};
}

integers! {
    // sorted
    AgentId,
    AuditId,
    ClusterId,
    DeliveryId,
    DocumentId,
    DriftCheckId,
    GraphId,
    JoinTokenId,
    LinkId,
    Micros,
    ModuleId,
    NodeId,
    NotificationId,
    PlanId,
    PluginId,
    ReleaseId,
    RunId,
    SequenceId,
    SnapshotId,
    TaskId,
    TenantId,
    TokenId,
    UserId,
    WebhookId,
    // end sorted
}

macro_rules! words {
    ($($type:ident),+ $(,)?) => {$(
        scalar!(
            $type,
            |cell| cell.parse(|text| word(text, $type::parse)),
            |value, args| args.opt_text(value.map(|value| value.as_str()))
        );
    )+};
}

words! {
    // sorted
    ClusterStatus,
    DeliveryStatus,
    DriftStatus,
    FactsKind,
    HistoryStatus,
    MergeMode,
    MergeOrder,
    ModuleAction,
    ModuleStatus,
    NodeErrorKind,
    NodeStatus,
    OnDefinitionChange,
    OwnerKind,
    ReleaseState,
    RunName,
    RunStatus,
    TaintCause,
    Topic,
    // end sorted
}

/// Lists of words, stored as JSON.
macro_rules! word_lists {
    ($($type:ident),+ $(,)?) => {$(
        scalar!(
            Vec<$type>,
            |cell| {
                let Some(names) = Vec::<String>::read_nullable(cell)? else { return Ok(None) };
                let words = names.iter().map(|name| word(name, $type::parse)).collect::<Result<_, _>>();
                words.map(Some).map_err(|error| cell.corrupt(error))
            },
            |value, args| {
                let names = value.map(|words| words.iter().map(|word| word.as_str()).collect::<Vec<_>>());
                args.opt_strings(names.as_deref())
            }
        );
    )+};
}

word_lists! { Role, Topic }

fn differences(text: &str) -> Result<Vec<HostDifference>, serde_json::Error> {
    // Differences in a form of a later version are dropped: they explain a result and decide nothing.
    let documents: Vec<Json> = serde_json::from_str(text)?;
    Ok(documents.iter().filter_map(HostDifference::from_json).collect())
}

fn word<T>(text: &str, parse: fn(&str) -> Option<T>) -> Result<T, UnknownWord> {
    parse(text).ok_or_else(|| UnknownWord { text: text.to_owned() })
}

#[derive(Debug, thiserror::Error)]
#[error("unknown value `{text}`")]
struct UnknownWord {
    text: String,
}
