//! No field of a published format is accepted and ignored: each has an observable effect, which a test shows, or is documented
//! to have none.
//!
//! The fields come from the published documents themselves (the OpenAPI document, the schema of graphs, the reference of modules),
//! so that a new field without a row fails this test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use stoker_model::{RunName, RunStatus};

use crate::beginnings::{create_child_run, create_cluster, create_node, create_run, id};
use crate::runs::{Site, task};
use crate::support::TestServer;

/// What shows that a field is not ignored.
enum Proof {
    /// A test that observes the effect.
    Test(&'static str),
    /// The row of the page about fields without effect.
    Documented,
}

use Proof::{Documented, Test};

/// A row for each field of each format.
const FIELDS: &[(&str, &[(&str, Proof)])] = &[
    (
        "task",
        &[
            ("id", Test("instances_and_edges_match_the_reference")),
            ("type", Test("task_parameters_override_type_defaults")),
            ("version", Test("versions_are_compared_as_numbers")),
            ("role", Test("instances_and_edges_match_the_reference")),
            ("roles", Test("instances_and_edges_match_the_reference")),
            ("groups", Test("instances_and_edges_match_the_reference")),
            ("tags", Test("unknown_roles_and_tags_are_reported")),
            ("requires", Test("instances_and_edges_match_the_reference")),
            ("required_for", Test("instances_and_edges_match_the_reference")),
            ("cross-depends", Test("instances_and_edges_match_the_reference")),
            ("cross_depends", Test("conflicting_spellings_are_rejected")),
            ("cross-depended-by", Test("instances_and_edges_match_the_reference")),
            ("cross_depended_by", Test("conflicting_spellings_are_rejected")),
            ("tasks", Test("groups_form_no_cycle_and_place_their_members")),
            ("condition", Test("executed_instances_match_the_reference")),
            ("parameters", Test("task_parameters_override_type_defaults")),
            ("reexecute_on", Documented),
            ("refresh_on", Test("handlers_run_after_a_change_and_rest_otherwise")),
            ("fail_on_error", Test("p02_fail_on_error_false_covers_all_failures")),
            ("fault_tolerance", Test("fault_tolerance_groups_match_the_reference")),
            ("stage", Test("plugin_stage_tasks_are_planned_in_stage_order")),
            ("test_pre", Documented),
            ("test_post", Documented),
        ],
    ),
    (
        "graph",
        &[
            ("id", Documented),
            ("relations", Test("graph_names_its_owner_as_responses_show_it")),
            ("name", Test("graph_lifecycle_works_for_each_owner")),
            ("type", Test("graph_type_comes_from_body_or_is_default")),
            ("tasks", Test("uploaded_tasks_round_trip")),
            ("node_filter", Test("node_filter_is_evaluated_on_node_state")),
            ("on_definition_change", Test("edited_task_runs_again_unless_the_graph_keeps_it")),
            ("on_success", Test("graph_node_attributes_are_applied_per_outcome")),
            ("on_error", Test("graph_node_attributes_are_applied_per_outcome")),
            ("on_stop", Test("graph_node_attributes_are_applied_per_outcome")),
        ],
    ),
    (
        "ReleaseBody",
        &[
            ("name", Test("release_is_created_read_updated_and_deleted")),
            ("version", Test("name_and_version_are_unique")),
            ("operating_system", Test("incompatible_plugin_is_refused_with_reason")),
            ("description", Documented),
            ("state", Test("unavailable_releases_are_forbidden")),
            ("modes_metadata", Test("cluster_is_created_with_all_optional_fields")),
            ("roles_metadata", Test("maxima_are_enforced_when_nodes_are_assigned")),
            ("tags_metadata", Test("primary_node_is_stable_between_plans")),
            ("volumes_roles_mapping", Documented),
            ("attributes_metadata", Test("settings_start_with_release_defaults")),
            ("networks_metadata", Documented),
            ("volumes_metadata", Documented),
            ("wizard_metadata", Test("cluster_is_created_from_wizard_answers")),
            ("components_metadata", Test("cluster_is_created_from_components")),
            ("required_component_types", Test("duplicates_unknown_names_and_missing_types_are_reported")),
            ("extensions", Test("extensions_are_limited_to_those_of_the_release")),
            ("graphs", Test("graphs_are_stored_with_the_release")),
            ("deployment_tasks", Test("graphs_are_stored_with_the_release")),
        ],
    ),
    (
        "PluginBody",
        &[
            ("name", Test("plugin_is_created_read_updated_and_deleted")),
            ("title", Test("compatible_plugins_have_settings_sections")),
            ("version", Test("only_one_plugin_version_is_enabled")),
            ("package_version", Test("plugin_versions_are_validated")),
            ("description", Documented),
            ("homepage", Documented),
            ("is_hotpluggable", Test("deployed_cluster_refuses_plugins_that_are_not_hot_pluggable")),
            ("fuel_version", Test("metadata_fields_are_checked")),
            ("groups", Documented),
            ("authors", Documented),
            ("licenses", Documented),
            ("releases", Test("compatible_clusters_and_plugins_are_linked")),
            ("attributes_metadata", Test("compatible_plugins_have_settings_sections")),
            ("roles_metadata", Test("enabled_plugin_extends_the_cluster")),
            ("tags_metadata", Test("enabled_plugin_extends_the_cluster")),
            ("volumes_metadata", Documented),
            ("components_metadata", Test("plugin_components_are_listed_with_incompatibilities")),
            ("provides", Test("core_network_is_incompatible_with_vcenter")),
            ("wizard_metadata", Test("wizard_merges_plugin_options_with_restrictions")),
            ("tasks", Test("stage_tasks_are_ordered_by_number_before_name")),
            ("graphs", Test("plugin_graphs_and_extra_fields_are_stored")),
            ("deployment_tasks", Test("plugin_attributes_override_cluster_and_release")),
        ],
    ),
    (
        "RoleMeta",
        &[
            ("name", Test("role_is_created_read_updated_and_deleted")),
            ("description", Test("role_is_created_read_updated_and_deleted")),
            ("tags", Test("nodes_are_listed_per_role_with_primary_tags")),
            ("conflicts", Test("conflicts_and_dependencies_are_enforced")),
            ("limits", Test("minima_are_enforced_when_a_plan_is_made")),
            ("depends", Test("conflicts_and_dependencies_are_enforced")),
            ("restrictions", Test("role_restrictions_are_checked_on_assignment")),
            ("public_ip_required", Test("conflicts_and_dependencies_are_enforced")),
        ],
    ),
    (
        "NewClusterBody",
        &[
            ("name", Test("cluster_is_created_from_legacy_client_request")),
            ("release_id", Test("cluster_is_created_from_legacy_client_request")),
            ("release", Test("cluster_is_created_with_all_optional_fields")),
            ("mode", Test("cluster_is_created_with_all_optional_fields")),
            ("net_provider", Test("common_document_contains_settings_nested_and_flat")),
            ("net_segment_type", Test("bound_segmentation_is_stored")),
            ("nodes", Test("cluster_is_created_with_all_optional_fields")),
            ("tasks", Test("new_resources_have_no_fields_that_the_server_assigns")),
            ("components", Test("cluster_is_created_from_components")),
            ("wizard", Test("cluster_is_created_from_wizard_answers")),
            ("ui_settings", Documented),
            ("tenant", Test("cluster_is_created_with_all_optional_fields")),
            ("merge_order", Test("legacy_merge_order_is_configurable")),
            ("merge_mode", Test("legacy_merge_order_is_configurable")),
        ],
    ),
    (
        "NewNodeBody",
        &[
            ("mac", Test("discovered_node_is_created")),
            ("status", Test("invalid_discovery_is_refused")),
            ("ip", Test("discovered_node_is_created")),
            ("name", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("hostname", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("meta", Test("discovered_node_is_created")),
            ("manufacturer", Documented),
            ("platform_name", Documented),
            ("os_platform", Documented),
            ("labels", Test("node_list_and_stats_are_filtered")),
        ],
    ),
    (
        "ReportBody",
        &[
            ("id", Test("reports_identify_their_node_and_are_stored_once")),
            ("mac", Test("reports_identify_their_node_and_are_stored_once")),
            ("agent_checksum", Test("heartbeat_without_changes_keeps_the_etag")),
            ("ip", Test("reports_identify_their_node_and_are_stored_once")),
            ("meta", Test("reports_identify_their_node_and_are_stored_once")),
            ("manufacturer", Documented),
            ("platform_name", Documented),
            ("os_platform", Documented),
        ],
    ),
    (
        "NewPlanBody",
        &[
            ("graph_type", Test("success_in_another_graph_type_does_not_count")),
            ("nodes", Test("plan_can_be_limited_to_tasks_nodes_and_subgraphs")),
            ("tasks", Test("plan_can_be_limited_to_tasks_nodes_and_subgraphs")),
            ("subgraphs", Test("plan_can_be_limited_to_tasks_nodes_and_subgraphs")),
            ("force", Test("force_ignores_old_states")),
            ("ignore_limits", Test("minima_are_enforced_when_a_plan_is_made")),
        ],
    ),
    (
        "ExecuteBody",
        &[
            ("cluster", Test("invalid_execute_request_is_refused")),
            ("graphs", Test("graphs_run_in_order_until_one_fails")),
            ("dry_run", Test("dry_run_plans_without_executing")),
            ("noop_run", Test("noop_run_changes_nothing")),
            ("force", Test("local_agent_on_another_machine_counts_as_replaced")),
            ("ignore_limits", Test("minima_are_enforced_when_a_plan_is_made")),
            ("debug", Test("debug_reaches_the_agents")),
            ("subgraphs", Test("subgraph_without_matching_instance_fails_the_run")),
            ("on_failure", Test("p06_on_failure_policy_decides_remaining_tasks")),
            ("at_stages", Test("p07_stages_are_passed_or_held")),
            ("fault_tolerance", Test("run_fault_tolerance_is_configurable")),
            ("nodes_at_once", Test("realistic_durations_come_close_to_the_lower_bound")),
            ("lost_after", Test("node_offline_for_too_long_fails")),
        ],
    ),
    (
        "module",
        &[
            ("name", Test("module_is_created_read_updated_and_deleted")),
            ("module_type", Test("unknown_types_and_datastores_are_rejected")),
            ("contents", Test("modules_are_applied_in_order_as_one_task")),
            ("description", Test("read_only_properties_are_accepted_only_with_the_stored_values")),
            ("datastore.type", Test("module_of_other_datastore_aborts_the_apply")),
            ("datastore.version", Test("module_of_other_datastore_aborts_the_apply")),
            ("priority_apply", Test("priority_then_order")),
            ("apply_order", Test("priority_then_order")),
            ("all_tenants", Test("users_see_own_and_shared_modules")),
            ("auto_apply", Test("auto_apply_follows_assignment_and_deployment")),
            ("visible", Test("hidden_modules_are_listed_only_for_admins")),
            ("live_update", Test("applied_module_is_immutable_unless_live")),
            ("full_access", Test("admin_flag_is_sticky")),
        ],
    ),
    (
        "setting",
        &[
            ("type", Test("invalid_settings_are_reported_together_and_not_stored")),
            ("label", Test("compatible_plugins_have_settings_sections")),
            ("weight", Test("settings_start_with_release_defaults")),
            ("value", Test("value_generators_of_releases_are_supported")),
            ("values", Test("all_invalid_values_are_reported")),
            ("regex", Test("regex_mismatch_is_refused_in_settings_and_wizard")),
            ("restrictions", Test("disabled_setting_cannot_be_enabled")),
            ("always_editable", Test("locked_cluster_settings_require_force")),
        ],
    ),
];

/// Query parameters by name; a parameter of several operations has the same meaning in all of them.
const QUERIES: &[(&str, Proof)] = &[
    ("action", Test("plan_responses_redact_secrets")),
    ("after", Test("events_are_numbered_and_output_is_searchable")),
    ("cluster", Test("sequences_are_listed_by_release_or_by_cluster")),
    ("cluster_id", Test("node_list_and_stats_are_filtered")),
    ("clusters_ids", Test("graph_list_is_filtered_and_paginated")),
    ("count_only", Test("reapply_resumes_after_server_restart")),
    ("datastore", Test("releases_are_listed_as_datastores")),
    ("debug", Test("debug_reaches_the_agents")),
    ("details", Test("node_list_and_stats_are_filtered")),
    ("dry_run", Test("dry_run_validates_tasks_without_storing")),
    ("end", Test("plugin_attributes_override_cluster_and_release")),
    ("extension_names", Test("extensions_are_limited_to_those_of_the_release")),
    ("fetch_related", Test("graph_list_is_filtered_and_paginated")),
    ("file", Test("plan_diagnostics_have_layer_file_and_line")),
    ("force", Test("cluster_with_active_run_is_deleted_only_with_force")),
    ("format", Test("plan_diagram_supports_formats_and_filters")),
    ("from_guest", Documented),
    ("graph", Test("plan_diagram_supports_formats_and_filters")),
    ("graph_type", Test("graph_type_comes_from_query")),
    ("graph_types", Test("graph_list_is_filtered_and_paginated")),
    ("ids", Test("node_list_and_stats_are_filtered")),
    ("ignore_limits", Test("minima_are_enforced_when_a_plan_is_made")),
    ("include", Test("plugin_attributes_override_cluster_and_release")),
    ("include_clustered", Documented),
    ("include_contents", Test("module_contents_are_redacted_except_on_request")),
    ("include_summary", Test("history_contains_task_outcomes")),
    ("labels", Test("node_list_and_stats_are_filtered")),
    ("layers", Test("plugin_attributes_override_cluster_and_release")),
    ("limit", Test("cluster_list_is_paginated")),
    ("marker", Test("invalid_instance_is_refused_with_reason")),
    ("mode", Test("wizard_merges_plugin_options_with_restrictions")),
    ("node", Test("plan_diagram_supports_formats_and_filters")),
    ("node_limit", Test("plan_matrix_is_paginated_in_execution_order")),
    ("node_offset", Test("plan_matrix_is_paginated_in_execution_order")),
    ("nodes", Test("plan_can_be_limited_to_tasks_nodes_and_subgraphs")),
    ("noop_run", Test("noop_run_changes_nothing")),
    ("now", Test("deployed_node_is_unassigned_immediately_on_request")),
    ("offset", Test("cluster_list_is_paginated")),
    ("online", Test("node_list_and_stats_are_filtered")),
    ("order_by", Test("releases_are_sorted_by_newest_version")),
    ("parameters", Test("plan_responses_redact_secrets")),
    ("parents_for", Test("merged_graph_is_rendered_as_dot")),
    ("parents_of", Test("plan_diagram_supports_formats_and_filters")),
    ("plugins_ids", Test("graph_list_is_filtered_and_paginated")),
    ("provenance", Test("provenance_names_the_layer_of_each_attribute")),
    ("release", Test("sequences_are_listed_by_release_or_by_cluster")),
    ("release_id", Test("cluster_list_is_paginated")),
    ("releases_ids", Test("graph_list_is_filtered_and_paginated")),
    ("remove", Test("merged_graph_is_rendered_as_dot")),
    ("roles", Test("node_list_and_stats_are_filtered")),
    ("runs_only", Test("plan_diagram_supports_formats_and_filters")),
    ("search", Test("plan_matrix_is_paginated_in_execution_order")),
    ("since", Test("changes_are_recorded_in_the_audit_log")),
    ("split", Test("facts_are_computed_unless_supplied")),
    ("start", Test("plugin_attributes_override_cluster_and_release")),
    ("status", Test("node_list_and_stats_are_filtered")),
    ("statuses", Test("runs_are_listed_and_read")),
    ("target", Test("changes_are_recorded_in_the_audit_log")),
    ("task", Test("plan_diagram_supports_formats_and_filters")),
    ("task_limit", Test("plan_matrix_is_paginated_in_execution_order")),
    ("task_offset", Test("plan_matrix_is_paginated_in_execution_order")),
    ("tasks", Test("merged_graph_is_rendered_as_dot")),
    ("tasks_names", Test("history_contains_task_outcomes")),
    ("topic", Test("notifications_are_listed_and_marked_as_read")),
    ("transaction_types", Test("runs_are_listed_and_read")),
    ("until", Test("changes_are_recorded_in_the_audit_log")),
    ("user_id", Test("revoked_token_is_refused_immediately")),
    ("whole", Test("whole_runs_have_no_parent")),
];

/// Formats whose fields other rows already cover: the same keys with the same meaning.
const SAME: &[(&str, &str)] = &[("GraphBody", "graph")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn keys(schema: &Value) -> BTreeSet<String> {
    schema["properties"].as_object().unwrap_or_else(|| panic!("{schema}")).keys().cloned().collect()
}

/// Returns the fields of a format, as published.
fn published(format: &str, document: &Value) -> BTreeSet<String> {
    match format {
        "task" | "graph" => {
            let schema: Value = serde_json::from_str(&read("docs/reference/tasks.schema.json")).unwrap();
            keys(&schema["$defs"][format])
        }
        "module" => {
            let page = read("docs/modules.md");
            let table = page.split("## Reference: fields").nth(1).unwrap().split("\n\n").nth(1).unwrap();
            let cells = table.lines().skip(2).filter_map(|line| line.split('|').nth(1));
            cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
        }
        // Settings are documents of their owners. The checks of packages name the fields.
        "setting" => {
            let rules = read("crates/registry/src/package/rules/settings.rs");
            let body = rules.split("fn attribute(").nth(1).unwrap().split("\n}").next().unwrap();
            let fields = body.split("fields.").skip(1).filter_map(|call| call.split('"').nth(1));
            let mut fields: BTreeSet<String> = fields.map(str::to_owned).collect();
            // Shown to the operator only.
            assert!(fields.remove("description"));
            fields.insert("always_editable".to_owned());
            fields
        }
        name => {
            let schemas = document["components"]["schemas"].as_object().unwrap();
            let aliases = [("ExecuteBody", "GraphsToRun")];
            let alias =
                aliases.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, published)| published);
            keys(&schemas[alias])
        }
    }
}

/// Returns all functions of the workspace with their text, by name. Functions of one name are joined.
pub(crate) fn test_functions() -> BTreeMap<String, String> {
    let mut functions: BTreeMap<String, String> = BTreeMap::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                for rest in text.split("fn ").skip(1) {
                    let name = rest.split(['(', '<']).next().unwrap_or_default();
                    functions.entry(name.to_owned()).or_default().push_str(rest);
                }
            }
        }
    }
    functions
}

#[test]
fn every_published_field_has_an_effect_or_a_documented_reason() {
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let page = read("docs/fuel.md");
    let reasons =
        page.split("## Reference: fields without effect").nth(1).unwrap().split("\n## ").next().unwrap();
    let tests = test_functions();
    let mut problems = Vec::new();
    // The test of a query parameter sends it, so that its text names it.
    let shows = |format: &str, field: &str, name: &str| {
        tests.get(name).is_some_and(|text| format != "query" || text.contains(field))
    };
    let mut check = |format: &str, rows: &[(&str, Proof)], published: &BTreeSet<String>| {
        let listed: BTreeSet<String> = rows.iter().map(|(field, _)| (*field).to_owned()).collect();
        problems.extend(published.difference(&listed).map(|field| format!("{format}: no row for `{field}`")));
        problems.extend(
            listed.difference(published).map(|field| format!("{format}: `{field}` is not published")),
        );
        for (field, proof) in rows {
            match proof {
                Test(name) if !shows(format, field, name) => {
                    problems.push(format!("{format}.{field}: no test `{name}`"));
                }
                Documented if !reasons.contains(&format!("`{field}`")) => {
                    problems.push(format!("{format}.{field}: not among the fields without effect"));
                }
                Test(_) | Documented => {}
            }
        }
    };
    for (format, rows) in FIELDS {
        check(format, rows, &published(format, &document));
    }
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let parameters =
        operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten());
    let queries = parameters.filter(|parameter| parameter["in"] == "query");
    let queries = queries.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect();
    check("query", QUERIES, &queries);
    for (format, other) in SAME {
        let others = published(other, &document);
        let own = published(format, &document);
        problems.extend(own.difference(&others).map(|field| format!("{format}: no row for `{field}`")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn debug_reaches_the_agents() {
    let site = Site::new(&json!([task("base", json!(["/.*/"]), "true", json!({}))])).await;
    site.deploy(json!({})).await;
    assert_eq!(site.attempts.n_debug(), 0);
    site.deploy(json!({"debug": true})).await;
    assert_eq!(site.attempts.n_debug(), 2);
    let path = format!("clusters/{}/deploy/?debug=1", site.cluster);
    let run = site.server.put(&path, &json!({})).await.expect(202);
    site.wait_for_end(id(&run)).await;
    assert_eq!(site.attempts.n_debug(), 4);
}

#[tokio::test]
async fn whole_runs_have_no_parent() {
    let server = TestServer::new().await;
    let parent = create_run(&server, None, RunName::Deploy, RunStatus::Ready).await;
    create_child_run(&server, None, RunName::Deployment, RunStatus::Ready, Some(&parent)).await;
    let ids = async |query: &str| {
        let runs = server.get(&format!("transactions/{query}")).await.expect(200);
        runs.as_array().unwrap().iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids("").await.len(), 2);
    assert_eq!(ids("?whole=1").await, [parent.id.0]);
}

#[tokio::test]
async fn every_writable_field_of_clusters_and_nodes_is_shown() {
    let server = TestServer::new().await;
    create_cluster(&server).await;
    create_node(&server, 1).await;
    server.create_user("ada", "blue", "member").await;
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let cluster = json!({
        "name": "other", "mode": "multinode", "nodes": [1], "components": [], "ui_settings": {"sort": 1}, "tenant": "blue",
        "merge_order": "release,plugins,cluster", "merge_mode": "replace", "release_id": 1, "release": 1,
    });
    let node = json!({
        "name": "db", "hostname": "db-1", "labels": {"rack": "a1"}, "status": "ready", "online": false, "roles": ["compute"],
        "pending_roles": ["ceph-osd"], "pending_addition": false, "pending_deletion": true, "cluster_id": 1, "meta": {"numa": 1},
        "mac": "52:54:00:00:00:09", "ip": "10.0.0.9", "error_type": "deploy", "error_msg": "no", "progress": 50,
        "group_id": 2, "manufacturer": "M", "platform_name": "P", "os_platform": "O", "kernel_params": "quiet",
    });
    for (path, schema, values) in [("clusters/1", "ClusterBody", cluster), ("nodes/1", "NodeBody", node)] {
        let fields: BTreeSet<String> = values.as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields, published(schema, &document), "{path}");
        // The hostname cannot be changed after provisioning, and roles need a cluster.
        let mut order: Vec<&String> = fields.iter().collect();
        order.sort_by_key(|field| match field.as_str() {
            "hostname" | "cluster_id" => 0,
            "status" => 2,
            _ => 1,
        });
        for field in order {
            server.put(path, &json!({field: values[field]})).await.expect(200);
            let shown = server.get(path).await.expect(200);
            match field.as_str() {
                "nodes" => assert_eq!(server.get("nodes/1").await.expect(200)["cluster"], 1),
                "cluster_id" => assert_eq!(shown["cluster"], values[field]),
                "release" => assert_eq!(shown["release_id"], values[field]),
                _ => assert_eq!(shown[field], values[field], "{path}: {field}"),
            }
        }
    }
}
