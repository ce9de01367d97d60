//! Specification 000: the order in which the tasks of plugins are deployed.

use super::{Differs, Row, Works};

pub(super) const ROWS: &[Row] = &[
    (
        "000-01",
        "a stage is a name, optionally followed by `/` and a number",
        Works("plain_decimals_are_parsed"),
    ),
    (
        "000-02",
        "the stages of plugins are `pre_deployment` and `post_deployment`",
        Works("invalid_stages_have_a_code"),
    ),
    ("000-03", "the number may be an integer", Works("plain_decimals_are_parsed")),
    ("000-04", "the number may be a decimal fraction", Works("plain_decimals_are_parsed")),
    ("000-05", "the number may be negative", Works("design_example_is_ordered_numerically")),
    (
        "000-06",
        "the notation of floating point numbers is free",
        Differs("numbers-of-stages-are-plain-decimals"),
    ),
    ("000-07", "a stage without a number has the number 0", Works("design_acceptance_cases")),
    ("000-08", "tasks with lower numbers run first", Works("stage_tasks_are_ordered_by_number_before_name")),
    ("000-09", "`100` and `100.0` are equal", Works("design_example_is_ordered_numerically")),
    (
        "000-10",
        "equal numbers are ordered by the name of the plugin",
        Works("equal_stage_numbers_are_ordered_by_name"),
    ),
    (
        "000-11",
        "tasks of one plugin with equal numbers keep the order of their file",
        Works("order_is_total_and_independent_of_the_input"),
    ),
    (
        "000-12",
        "tasks of several plugins are interleaved by number",
        Works("stage_tasks_are_ordered_by_number_before_name"),
    ),
    ("000-13", "the printed example is the order of its eight tasks", Differs("negative-numbers-come-first")),
    (
        "000-14",
        "pre-deployment tasks run before the deployment, post-deployment tasks after it",
        Works("stage_tasks_run_after_their_stage_and_before_the_next"),
    ),
    ("000-15", "the order holds across all nodes", Works("graph_preserves_the_order_on_all_nodes")),
    (
        "000-16",
        "a task whose role no node has does not break the order",
        Works("task_without_nodes_does_not_break_the_order"),
    ),
    (
        "000-17",
        "the order does not depend on the order of installation",
        Works("order_is_total_and_independent_of_the_input"),
    ),
    (
        "000-18",
        "removing a plugin does not reorder the others",
        Works("removing_a_plugin_does_not_reorder_the_others"),
    ),
    ("000-19", "invalid stages are refused when the plugin is built", Works("stage_tasks_are_checked")),
    ("000-20", "invalid stages are refused with their place", Works("invalid_stage_is_refused_with_path")),
    ("000-21", "packages of version 1 have no numbers", Works("missing_stage_and_package_version_1")),
    ("000-22", "published plugins keep working", Works("real_stage_tasks_cause_no_findings")),
    (
        "000-23",
        "ranges of numbers are reserved for hardware, disks, networks, software and monitoring",
        Works("ranges_are_half_open"),
    ),
    ("000-24", "5000 to 5999 is software, 6000 to 6999 is reserved", Differs("software-has-two-ranges")),
    (
        "000-25",
        "numbers in reserved ranges are allowed",
        Works("reserved_ranges_are_noted_and_graph_tasks_are_included"),
    ),
    (
        "000-26",
        "the order is documented for authors of plugins",
        Works("ranges_are_explained_if_numbers_are_supported"),
    ),
    ("000-27", "the order can be shown before a deployment", Works("design_example_is_in_numeric_order")),
    (
        "000-28",
        "tasks with stages in the graph of a plugin are ordered, too",
        Works("plugin_stage_tasks_are_planned_in_stage_order"),
    ),
];
