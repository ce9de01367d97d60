//! Maps constraint violations to [`StoreError`] variants.
//!
//! PostgreSQL reports the constraint name. SQLite reports the columns of a unique constraint, and nothing for
//! a foreign key; modules that need this information check references before writing.

use sqlx::error::{DatabaseError, ErrorKind};

use crate::StoreError;

struct Unique {
    constraint: &'static str,
    columns: &'static str,
    what: &'static str,
}

const fn unique(constraint: &'static str, columns: &'static str, what: &'static str) -> Unique {
    Unique { constraint, columns, what }
}

const UNIQUE: &[Unique] = &[
    // sorted
    unique("agents_digest", "agents.digest", "agent"),
    unique("agents_uid", "agents.uid", "agent"),
    unique("cluster_deployment_graphs_type", "cluster_deployment_graphs.cluster_id", "graph type"),
    unique("clusters_name", "clusters.name", "cluster name"),
    unique("deployment_graph_tasks_name", "deployment_graph_tasks.deployment_graph_id", "task name"),
    unique("join_tokens_digest", "join_tokens.digest", "join token"),
    unique("links_cluster_url", "links.cluster_id", "url of a link"),
    unique("links_plugin_url", "links.plugin_id", "url of a link"),
    unique("module_runs_turn", "module_runs.turn_of", "turn of the node"),
    unique("modules_identity", "index 'modules_identity'", "module"),
    unique("modules_uuid", "modules.uuid", "module"),
    unique("nodes_cluster_hostname", "nodes.cluster_id", "hostname"),
    unique("nodes_mac", "nodes.mac", "mac"),
    unique("plugin_deployment_graphs_type", "plugin_deployment_graphs.plugin_id", "graph type"),
    unique("plugin_folders_folder", "plugin_folders.folder", "directory of a plugin"),
    unique("plugins_name_version", "plugins.name", "plugin name and version"),
    unique("release_deployment_graphs_type", "release_deployment_graphs.release_id", "graph type"),
    unique("releases_name_version", "releases.name", "release name and version"),
    unique("runs_uuid", "runs.uuid", "run uuid"),
    unique("sequences_release_name", "sequences.release_id", "sequence name"),
    unique("state_documents_digest", "state_documents.digest", "document"),
    unique("state_parts_digest", "state_parts.digest", "part of a document"),
    unique("tenants_name", "tenants.name", "tenant name"),
    unique("tokens_digest", "tokens.digest", "token"),
    unique("users_name", "users.name", "user name"),
    unique("webhooks_name", "webhooks.name", "webhook name"),
    // end sorted
];

/// PostgreSQL foreign keys by name, with the noun of the referencing record (reported when a deletion is
/// refused) and of the referenced record.
const FOREIGN: &[(&str, &str, &str)] = &[
    // sorted
    ("agent_certificates_agent", "certificate", "agent"),
    ("agents_node", "agent", "node"),
    ("applied_states_cluster", "applied state", "cluster"),
    ("attempt_output_run", "output", "run"),
    ("cluster_deployment_graphs_graph", "graph", "graph"),
    ("cluster_deployment_graphs_owner", "graph", "cluster"),
    ("cluster_facts_cluster", "document of facts", "cluster"),
    ("cluster_plugins_cluster", "plugin", "cluster"),
    ("cluster_plugins_plugin", "cluster", "plugin"),
    ("cluster_primaries_cluster", "primary", "cluster"),
    ("cluster_primaries_node", "primary", "node"),
    ("clusters_release", "cluster", "release"),
    ("clusters_tenant", "cluster", "tenant"),
    ("deployment_graph_tasks_graph", "task", "graph"),
    ("links_cluster", "link", "cluster"),
    ("links_plugin", "link", "plugin"),
    ("module_contents_module", "contents", "module"),
    ("module_run_items_run", "module", "run"),
    ("module_runs_node", "run of modules", "node"),
    ("module_runs_run", "run of modules", "run"),
    ("modules_tenant", "module", "tenant"),
    ("node_modules_cluster", "module", "cluster"),
    ("node_modules_node", "module", "node"),
    ("node_revocations_node", "revocation", "node"),
    ("nodes_cluster", "node", "cluster"),
    ("notifications_cluster", "notification", "cluster"),
    ("plan_extras_plan", "plan", "plan"),
    ("plan_nodes_plan", "plan", "plan"),
    ("plan_snapshots_plan", "plan", "plan"),
    ("plans_cluster", "plan", "cluster"),
    ("plans_parent", "plan", "plan"),
    ("plugin_deployment_graphs_graph", "graph", "graph"),
    ("plugin_deployment_graphs_owner", "graph", "plugin"),
    ("plugin_folders_plugin", "folder", "plugin"),
    ("release_deployment_graphs_graph", "graph", "graph"),
    ("release_deployment_graphs_owner", "graph", "release"),
    ("run_events_run", "event", "run"),
    ("run_history_run", "history record", "run"),
    ("run_work_plan", "run", "plan"),
    ("run_work_run", "work of a run", "run"),
    ("runs_cluster", "run", "cluster"),
    ("runs_parent", "run", "run"),
    ("sequences_release", "sequence", "release"),
    ("state_document_parts_document", "state", "document"),
    ("state_document_parts_part", "state", "part of a document"),
    ("successes_cluster", "success", "cluster"),
    ("tenant_quotas_tenant", "quota", "tenant"),
    ("tokens_tenant", "token", "tenant"),
    ("tokens_user", "token", "user"),
    ("users_tenant", "user", "tenant"),
    ("webhook_deliveries_webhook", "delivery", "webhook"),
    ("webhook_secrets_webhook", "secret", "webhook"),
    ("webhooks_cluster", "webhook", "cluster"),
    // end sorted
];

/// Returns the error for a constraint violated by an insert or update; `None` for any other error.
pub(crate) fn explain(error: &dyn DatabaseError) -> Option<StoreError> {
    match error.kind() {
        ErrorKind::UniqueViolation => Some(StoreError::AlreadyExists { what: unique_what(error) }),
        ErrorKind::ForeignKeyViolation => {
            let what = foreign(error).map_or("record", |(_, _, target)| target);
            Some(StoreError::NotFound { what })
        }
        _ => None,
    }
}

/// Returns the error for a constraint violated by a deletion.
pub(crate) fn explain_removal(error: sqlx::Error) -> StoreError {
    let referrer = error
        .as_database_error()
        .filter(|inner| inner.kind() == ErrorKind::ForeignKeyViolation)
        .map(|inner| foreign(inner).map_or("record", |(_, referrer, _)| referrer));
    referrer.map_or_else(|| StoreError::from(error), |what| StoreError::Referenced { what })
}

fn unique_what(error: &dyn DatabaseError) -> &'static str {
    let columns = error.message().rsplit(": ").next().unwrap_or_default();
    let first = columns.split(',').next().unwrap_or_default();
    let violated = UNIQUE.iter().find(|rule| match error.constraint() {
        Some(constraint) => rule.constraint == constraint,
        None => rule.columns == first,
    });
    violated.map_or("name", |rule| rule.what)
}

fn foreign(error: &dyn DatabaseError) -> Option<(&'static str, &'static str, &'static str)> {
    let constraint = error.constraint()?;
    FOREIGN.iter().find(|(name, ..)| *name == constraint).copied()
}
