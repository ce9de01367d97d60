//! Checks of literal task fields.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_model::{OnDrift, TaskType};
use stoker_yaml::{Node, NodeKind, Scalar};

use super::relation::{check_relations, check_triggers};
use super::strategy::check_strategy;
use crate::codes;
use crate::expression::is_computed;
use crate::reader::{boolean, list_of, one_of, report_wrong_type, string_with_length, text};

/// What the drift of a task causes. Literal only.
pub(super) const ON_DRIFT: &str = "on_drift";

/// Known fields that are not among [`stoker_model::TASK_FIELDS`].
pub(super) const OTHER_FIELDS: &[&str] = &[
    "tags",
    "fail_on_error",
    ON_DRIFT,
    "fault_tolerance",
    "stage",
    "skipped",
    "diagnostic_name",
    "task_name",
    "db_id",
];

const EXPRESSION_FORM: &str = "write an expression as `condition: {yaql_exp: \"…\"}`";

/// Checks the value of a field, given its canonical name.
pub(super) fn check_field(canonical: &str, node: &Node, problems: &mut Diagnostics) {
    match canonical {
        "type" => _ = one_of(TaskType::NAMES)(node, problems),
        "version" => check_version(node, problems),
        "roles" | "groups" | "tags" => check_node_names(node, problems),
        "requires" | "required_for" | "tasks" | "reexecute_on" => check_names(node, problems),
        "cross_depends" | "cross_depended_by" => check_relations(node, problems),
        "refresh_on" => check_triggers(node, problems),
        "parameters" => check_parameters(node, problems),
        "condition" => check_condition(node, problems),
        "fail_on_error" => _ = boolean(node, problems),
        ON_DRIFT => _ = one_of(OnDrift::NAMES)(node, problems),
        "fault_tolerance" => check_tolerance(node, problems),
        "test_pre" | "test_post" => check_map(node, problems),
        "stage" => check_stage(node, problems),
        _ => {}
    }
}

/// Checks a literal or computed name.
pub(super) fn check_name(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    if is_computed(node) { Some(()) } else { string_with_length(1..=255)(node, problems).map(|_| ()) }
}

fn check_names(node: &Node, problems: &mut Diagnostics) {
    _ = list_of(check_name)(node, problems);
}

/// Checks a placement: one name or a list of names.
pub(super) fn check_node_names(node: &Node, problems: &mut Diagnostics) {
    match &node.kind {
        NodeKind::Seq(_) => check_names(node, problems),
        NodeKind::Scalar(Scalar::Str(_)) => _ = check_name(node, problems),
        _ => _ = report_wrong_type(node, "a name or a list of names", problems),
    }
}

fn check_map(node: &Node, problems: &mut Diagnostics) {
    if node.as_map().is_none() {
        report_wrong_type(node, "a map", problems);
    }
}

fn check_version(node: &Node, problems: &mut Diagnostics) {
    let Some(version) = text(node, problems) else { return };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if version.split('.').count() != 3 || !version.split('.').all(is_number) {
        let message = format!("must be three numbers as in `2.1.0`, got {}", quoted(version));
        problems.error(codes::FORM, node.span, message);
    }
}

fn check_parameters(node: &Node, problems: &mut Diagnostics) {
    check_map(node, problems);
    if let Some(strategy) = node.get("strategy").filter(|strategy| !is_computed(strategy)) {
        problems.in_key("strategy", |problems| check_strategy(strategy, problems));
    }
}

fn check_condition(node: &Node, problems: &mut Diagnostics) {
    if node.as_str().is_some_and(|text| text.trim_start().starts_with("yaql_exp:")) {
        let message = "text that begins with `yaql_exp:` is not an expression";
        problems.error(codes::EXPRESSION, node.span, message).set_help(EXPRESSION_FORM);
    }
    if !matches!(&node.kind, NodeKind::Scalar(Scalar::Null | Scalar::Bool(_) | Scalar::Str(_))) {
        let problem = report_wrong_type(node, "true, false, text or an expression", problems);
        problem.set_help(EXPRESSION_FORM);
    }
}

/// Checks a fault tolerance: `2`, `"2"`, `"10%"`, and negative values.
fn check_tolerance(node: &Node, problems: &mut Diagnostics) {
    let form = "a number or a percentage such as `10%`";
    match &node.kind {
        NodeKind::Scalar(Scalar::Null | Scalar::Int(_)) => {}
        NodeKind::Scalar(Scalar::Str(text)) if is_tolerance(text) => {}
        NodeKind::Scalar(Scalar::Str(text)) => {
            problems.error(codes::FORM, node.span, format!("must be {form}, got {}", quoted(text)));
        }
        _ => _ = report_wrong_type(node, form, problems),
    }
}

fn is_tolerance(text: &str) -> bool {
    let text = text.trim();
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    // A number that exceeds an integer is not a valid number of nodes.
    digits.starts_with(|first: char| first.is_ascii_digit()) && number.parse::<i64>().is_ok()
}

/// Checks a stage: `name`, or `name/number` with a plain decimal number.
fn check_stage(node: &Node, problems: &mut Diagnostics) {
    let Some(stage) = text(node, problems) else { return };
    let (name, number) = match stage.split_once('/') {
        Some((name, number)) => (name, Some(number)),
        None => (stage, None),
    };
    if name.trim().is_empty() || !number.is_none_or(is_decimal) {
        let message = format!("must be `name` or `name/number`, got {}", quoted(stage));
        let problem = problems.error(codes::FORM, node.span, message);
        problem
            .set_help("the number is a plain decimal as in `post_deployment/100` or `pre_deployment/-99.9`");
    }
}

fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_form = match unsigned.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction) && !fraction.is_empty(),
        None => is_digits(unsigned) && !unsigned.is_empty(),
    };
    // A number with so many digits that it parses as infinity is invalid.
    has_form && text.parse::<f64>().is_ok_and(f64::is_finite)
}
