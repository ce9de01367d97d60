//! Fields of request bodies.

use super::Proof::{self, Documented, Test};

/// A row for each field of each request body.
pub(super) const BODIES: &[(&str, &[(&str, Proof)])] = &[
    (
        "NewClusterBody",
        &[
            ("name", Test("cluster_is_created_from_legacy_client_request")),
            ("release_id", Test("cluster_is_created_from_legacy_client_request")),
            ("release", Test("cluster_is_created_with_all_optional_fields")),
            ("mode", Test("cluster_is_created_with_all_optional_fields")),
            ("net_provider", Test("bound_segmentation_is_stored")),
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
            ("refresh", Test("a_refreshed_plan_repairs_what_drifted")),
        ],
    ),
    (
        "NewDriftCheckBody",
        &[
            ("graph_type", Test("a_check_covers_the_selected_nodes_tasks_and_graph_type")),
            ("nodes", Test("a_check_covers_the_selected_nodes_tasks_and_graph_type")),
            ("tasks", Test("a_check_covers_the_selected_nodes_tasks_and_graph_type")),
        ],
    ),
    (
        "GraphsToRun",
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
        "ClusterBody",
        &[
            ("name", Test("second_run_executes_only_changed_tasks")),
            ("release_id", Test("cluster_moves_to_another_release_and_back")),
            ("release", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("mode", Test("impossible_move_is_refused_with_every_reason")),
            ("nodes", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("components", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("ui_settings", Documented),
            ("tenant", Test("moving_a_cluster_checks_target_tenant_quotas")),
            ("merge_order", Test("legacy_merge_order_is_configurable")),
            ("merge_mode", Test("legacy_merge_order_is_configurable")),
        ],
    ),
    (
        "NodeBody",
        &[
            ("name", Test("ambiguous_node_name_is_refused")),
            ("hostname", Test("duplicate_hostname_in_cluster_is_refused")),
            ("labels", Test("labels_are_observed")),
            ("status", Test("offline_node_leaves_without_a_graph")),
            ("online", Test("offline_node_stays_marked_and_the_run_is_partial")),
            ("roles", Test("node_list_and_stats_are_filtered")),
            ("pending_roles", Test("maxima_are_enforced_when_nodes_are_assigned")),
            ("pending_addition", Test("cluster_deletion_releases_its_nodes")),
            ("pending_deletion", Test("maxima_are_enforced_when_nodes_are_assigned")),
            ("cluster_id", Test("maxima_are_enforced_when_nodes_are_assigned")),
            ("meta", Test("heartbeat_without_changes_keeps_the_etag")),
            ("mac", Test("joining_agent_is_matched_by_mac_address")),
            ("ip", Test("discovered_node_is_created")),
            ("error_type", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("error_msg", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("progress", Test("every_writable_field_of_clusters_and_nodes_is_shown")),
            ("group_id", Documented),
            ("manufacturer", Documented),
            ("platform_name", Documented),
            ("os_platform", Documented),
            ("kernel_params", Documented),
        ],
    ),
    (
        "NamedNodeBody",
        &[("id", Test("bulk_node_update_is_atomic")), ("cluster", Test("bulk_node_update_is_atomic"))],
    ),
    (
        "ClusterRun",
        &[
            ("type", Test("a_body_selects_graph_and_nodes_of_a_run")),
            ("graph_type", Test("a_run_is_not_started_by_input_that_is_not_understood")),
            ("nodes", Test("a_body_selects_graph_and_nodes_of_a_run")),
        ],
    ),
    ("FixedGraphRun", &[("nodes", Test("a_run_is_not_started_by_input_that_is_not_understood"))]),
    ("SequenceToRun", &[("cluster", Test("every_way_to_start_a_run_decides_as_its_plan"))]),
    (
        "AnswersBody",
        &[
            ("answers", Test("wizard_answer_sets_the_cluster_mode")),
            ("mode", Test("wizard_answer_sets_the_cluster_mode")),
        ],
    ),
    (
        "Assignment",
        &[
            ("id", Test("maxima_are_enforced_when_nodes_are_assigned")),
            ("roles", Test("maxima_are_enforced_when_nodes_are_assigned")),
        ],
    ),
    ("Unassignment", &[("id", Test("deployed_node_is_unassigned_by_the_next_run"))]),
    ("AttributesBody", &[("editable", Test("maxima_are_enforced_when_nodes_are_assigned"))]),
    ("CertificateBody", &[("certificate_request", Test("credential_without_certificate_is_rejected"))]),
    (
        "JoinBody",
        &[
            ("token", Test("join_token_is_limited_by_its_use_count")),
            ("node", Test("joining_agent_is_matched_by_mac_address")),
            ("facts", Test("joining_agent_is_matched_by_mac_address")),
            ("journal", Test("only_another_machine_or_journal_counts_as_replaced")),
            ("certificate_request", Test("credential_without_certificate_is_rejected")),
            ("version", Test("machine_replaced_during_a_run_is_planned_again")),
        ],
    ),
    (
        "JoinTokenBody",
        &[
            ("label", Test("join_tokens_show_their_label")),
            ("uses", Test("join_token_is_limited_by_its_use_count")),
            ("expires_in", Test("rejected_join_reports_the_reason")),
            ("may_replace", Test("replacing_an_agent_requires_may_replace")),
        ],
    ),
    (
        "NewLink",
        &[
            ("title", Test("links_are_scoped_to_their_owner")),
            ("url", Test("links_are_scoped_to_their_owner")),
            ("description", Test("links_are_scoped_to_their_owner")),
            ("hidden", Test("links_are_scoped_to_their_owner")),
        ],
    ),
    (
        "LinkChange",
        &[
            ("title", Test("links_are_scoped_to_their_owner")),
            ("url", Test("links_are_scoped_to_their_owner")),
            ("description", Test("links_are_scoped_to_their_owner")),
            ("hidden", Test("links_are_scoped_to_their_owner")),
        ],
    ),
    (
        "NewRoleBody",
        &[
            ("name", Test("role_is_created_read_updated_and_deleted")),
            ("meta", Test("role_is_created_read_updated_and_deleted")),
            ("volumes_roles_mapping", Test("role_is_created_read_updated_and_deleted")),
        ],
    ),
    (
        "RoleBody",
        &[
            ("name", Test("role_is_created_read_updated_and_deleted")),
            ("meta", Test("role_is_created_read_updated_and_deleted")),
            ("volumes_roles_mapping", Test("role_is_created_read_updated_and_deleted")),
        ],
    ),
    (
        "NewTagBody",
        &[
            ("name", Test("tag_is_created_read_updated_and_deleted")),
            ("meta", Test("tag_is_created_read_updated_and_deleted")),
        ],
    ),
    (
        "TagBody",
        &[
            ("name", Test("tag_is_created_read_updated_and_deleted")),
            ("meta", Test("tag_is_created_read_updated_and_deleted")),
        ],
    ),
    (
        "NewSequenceBody",
        &[
            ("release", Test("sequence_is_created_read_updated_and_deleted")),
            ("name", Test("sequence_is_created_read_updated_and_deleted")),
            ("graphs", Test("sequence_is_created_read_updated_and_deleted")),
        ],
    ),
    (
        "SequenceBody",
        &[
            ("name", Test("sequence_is_created_read_updated_and_deleted")),
            ("graphs", Test("sequence_is_created_read_updated_and_deleted")),
        ],
    ),
    (
        "NewWebhook",
        &[
            ("name", Test("webhook_is_created_updated_and_deleted")),
            ("url", Test("webhook_is_created_updated_and_deleted")),
            ("topics", Test("webhook_is_created_updated_and_deleted")),
            ("cluster", Test("webhook_is_created_updated_and_deleted")),
            ("secret", Test("webhook_is_created_updated_and_deleted")),
            ("enabled", Test("webhook_is_created_updated_and_deleted")),
        ],
    ),
    (
        "WebhookChange",
        &[
            ("name", Test("webhook_is_created_updated_and_deleted")),
            ("url", Test("webhook_is_created_updated_and_deleted")),
            ("topics", Test("webhook_is_created_updated_and_deleted")),
            ("cluster", Test("webhook_is_created_updated_and_deleted")),
            ("secret", Test("webhook_is_created_updated_and_deleted")),
            ("enabled", Test("webhook_is_created_updated_and_deleted")),
        ],
    ),
    (
        "NotificationMark",
        &[
            ("ids", Test("notifications_are_listed_and_marked_as_read")),
            ("status", Test("notifications_are_listed_and_marked_as_read")),
        ],
    ),
    (
        "PasswordBody",
        &[
            ("old_password", Test("password_or_role_change_revokes_tokens")),
            ("password", Test("password_or_role_change_revokes_tokens")),
        ],
    ),
    (
        "ProvisioningFacts",
        &[
            ("engine", Test("provisioning_facts_include_engine")),
            ("nodes", Test("provisioning_facts_include_engine")),
        ],
    ),
    (
        "QuotasChange",
        &[
            ("clusters", Test("tenant_quotas_are_enforced")),
            ("nodes", Test("tenant_quotas_are_enforced")),
            ("modules", Test("tenant_quotas_are_enforced")),
        ],
    ),
    (
        "ReleaseAttributes",
        &[
            ("editable", Test("settings_and_networks_have_separate_endpoints")),
            ("generated", Test("settings_and_networks_have_separate_endpoints")),
        ],
    ),
    (
        "ReleaseMoveBody",
        &[
            ("release_id", Test("impossible_move_is_refused_with_every_reason")),
            ("mode", Test("impossible_move_is_refused_with_every_reason")),
        ],
    ),
    ("RetryRun", &[("from", Test("retry_from_task_reruns_its_dependents"))]),
    ("StopRun", &[("how", Test("stopped_run_is_marked_as_stopped"))]),
    (
        "SelectionBody",
        &[
            ("components", Test("invalid_selection_is_reported_and_invalid_body_is_refused")),
            ("mode", Test("invalid_selection_is_reported_and_invalid_body_is_refused")),
        ],
    ),
    ("SyncBody", &[("ids", Test("sync_rereads_plugin_files"))]),
    (
        "TenantBody",
        &[
            ("name", Test("tenant_is_created_updated_and_deleted")),
            ("description", Test("tenant_is_created_updated_and_deleted")),
            ("enabled", Test("tenant_is_created_updated_and_deleted")),
        ],
    ),
    (
        "TokenBody",
        &[
            ("label", Test("revoked_token_is_refused_immediately")),
            ("expires_in", Test("tokens_expire_as_requested")),
        ],
    ),
    (
        "UserBody",
        &[
            ("name", Test("password_or_role_change_revokes_tokens")),
            ("password", Test("password_or_role_change_revokes_tokens")),
            ("roles", Test("password_or_role_change_revokes_tokens")),
            ("tenant", Test("password_or_role_change_revokes_tokens")),
            ("enabled", Test("password_or_role_change_revokes_tokens")),
        ],
    ),
    (
        "YaqlQuestion",
        &[
            ("expression", Test("expressions_are_evaluated_on_node_state")),
            ("data", Test("expressions_are_evaluated_on_node_state")),
            ("cluster", Test("expressions_are_evaluated_on_node_state")),
            ("node", Test("expressions_are_evaluated_on_node_state")),
            ("task", Test("warnings_about_graphs_are_shown_over_rest")),
            ("graph_type", Test("graph_errors_name_task_field_and_nodes")),
        ],
    ),
];

/// Bodies that contain all fields of another format, beside their own.
pub(super) const EXTENDED: &[(&str, &str)] = &[
    ("GraphBody", "graph"),
    ("NewGraphBody", "graph"),
    ("NamedNodeBody", "NodeBody"),
    ("ClusterRun", "RunOptions"),
    ("FixedGraphRun", "RunOptions"),
    ("SequenceToRun", "RunOptions"),
    ("RunOptions", "GraphsToRun"),
];

/// Bodies without a fixed set of fields, with the reason.
pub(super) const FREE: &[(&str, &str)] = &[
    ("ArchiveBody", "the body is an archive"),
    ("Value", "a document of another format: the module API, logins, facts, tasks and attributes of nodes"),
];
