//! `tasks.yaml`: tasks that run in a stage.

use stoker_conditions::Dialect;
use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{integer_in, list_of, report_wrong_type, string};
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::package::plugin::Documents;
use crate::package::shapes::{condition_as, head, is_inline_expression, non_empty_text, open_map};
use crate::package::version::PackageVersion;
use crate::package::{Context, codes};
use crate::stages::{NumberRange, Stage, codes as stage_codes};

pub(in crate::package) fn stage_tasks(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    _ = list_of(|node: &Node, problems: &mut Diagnostics| stage_task(node, context, problems))(
        node, problems,
    );
}

const EXPRESSION_HELP: &str =
    "write the task in `deployment_tasks.yaml`, with `condition: {yaql_exp: \"…\"}`";

fn stage_task(node: &Node, context: Context<'_>, problems: &mut Diagnostics) -> Option<()> {
    let task_type = node.get("type").and_then(Node::as_str).unwrap_or_default();
    open_map(|fields| {
        fields.required("role", role);
        let stage = fields.take("stage");
        let span = head(fields.node());
        fields.problems().in_key("stage", |problems| match stage {
            None | Some(Node { kind: NodeKind::Scalar(Scalar::Null), .. }) => {
                problems.error(codes::STAGE_MISSING, span, "`stage` is missing");
            }
            Some(stage) => check_stage(stage, context.version, problems),
        });
        fields.required("type", |node, problems| known_type(node, context.version, problems));
        fields
            .required("parameters", |node, problems| parameters(node, task_type, context.version, problems));
        fields.optional("condition", |node, problems| {
            if node.as_str().is_some_and(is_inline_expression) {
                let message = "stage tasks have no expressions";
                problems.error(codes::EXPRESSION_SYNTAX, node.span, message).set_help(EXPRESSION_HELP);
                return None;
            }
            condition_as(Dialect::Task, node, context.text, problems)
        });
    })(node, problems)
}

/// Reads a list of roles, `*` for all nodes, or `master`.
pub(super) fn role(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    match &node.kind {
        NodeKind::Seq(_) => list_of(string)(node, problems).map(|_| ()),
        NodeKind::Scalar(Scalar::Str(text)) if matches!(&**text, "*" | "master") => Some(()),
        NodeKind::Scalar(Scalar::Str(text)) => {
            let message = format!("must be a list of roles, `*` or `master`, got {}", quoted(text));
            let help = format!("use [{text}]");
            problems.error(codes::ROLE_FORMAT, node.span, message).set_help(help);
            None
        }
        _ => {
            let message = "must be a list of roles, `*` or `master`";
            problems.error(codes::ROLE_FORMAT, head(node), message);
            None
        }
    }
}

/// Checks a stage for a package version. Reserved numbers are warnings.
pub(super) fn check_stage(node: &Node, version: PackageVersion, problems: &mut Diagnostics) {
    let Some(text) = node.as_str() else {
        problems.error(codes::STAGE_NOT_STRING, head(node), "must be text such as `post_deployment/100`");
        return;
    };
    match Stage::parse_for_package(text, version.as_str()) {
        Ok(stage) if NumberRange::for_number(stage.number()) == NumberRange::Reserved => {
            let message = format!("{} is in a range that is reserved by convention", stage.number());
            problems.warning(codes::STAGE_RESERVED, node.span, message);
        }
        Ok(_) => {}
        Err(code) => {
            let (code, message) = stage_problem(code, text);
            problems.error(code, node.span, message).set_help(
                "use `pre_deployment` or `post_deployment`, optionally followed by `/` and a decimal number",
            );
        }
    }
}

fn stage_problem(code: &str, text: &str) -> (&'static str, String) {
    let text = quoted(text);
    match code {
        stage_codes::BAD_POSTFIX => {
            (codes::STAGE_BAD_POSTFIX, format!("{text} has no valid decimal number after `/`"))
        }
        stage_codes::POSTFIX_NOT_ALLOWED => (
            codes::STAGE_POSTFIX_NOT_ALLOWED,
            "packages of version 1.0.0 do not support numbers in stages".to_owned(),
        ),
        stage_codes::POSTFIX_RANGE => (codes::STAGE_POSTFIX_RANGE, "the number is too large".to_owned()),
        _ => (codes::STAGE_UNKNOWN, format!("unknown stage {text}")),
    }
}

fn known_type(node: &Node, version: PackageVersion, problems: &mut Diagnostics) -> Option<()> {
    let types: &[&str] =
        if version == PackageVersion::V1 { &["puppet", "shell"] } else { &["puppet", "shell", "reboot"] };
    let task_type = string(node, problems)?;
    if !types.contains(&&*task_type) {
        let message = format!("unknown task type {}", quoted(&task_type));
        problems
            .error(codes::TASK_TYPE_UNKNOWN, node.span, message)
            .set_help(format!("use one of {}", types.join(", ")));
    }
    Some(())
}

fn parameters(
    node: &Node,
    task_type: &str,
    version: PackageVersion,
    problems: &mut Diagnostics,
) -> Option<()> {
    if node.as_map().is_none() {
        report_wrong_type(node, "a map", problems);
        return None;
    }
    open_map(|fields| {
        fields.required("timeout", integer_in(0..=i64::MAX));
        if version >= PackageVersion::V3 {
            fields.optional("retries", integer_in(0..=i64::MAX));
        }
        match task_type {
            "shell" => _ = fields.required("cmd", non_empty_text),
            "puppet" => {
                fields.required("puppet_manifest", non_empty_text);
                fields.required("puppet_modules", non_empty_text);
            }
            _ => {}
        }
    })(node, problems)
}
