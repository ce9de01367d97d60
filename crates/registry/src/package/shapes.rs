//! Readers shared by the rules of several files.

use std::ops::Range;

use stoker_conditions::{Condition, Dialect};
use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, list_of, one_of, report_wrong_type, string};
use stoker_yaml::{Node, NodeKind, Scalar, Span, locate_in_scalar};

use super::diagnostic::codes;
use crate::components::Binding;
use crate::patterns::pattern_error;
use crate::restrictions::is_placeholder;

/// Reports whether a value is given as a YAQL expression (`yaql_exp`) instead of a literal.
pub(super) fn is_computed(node: &Node) -> bool {
    node.get("yaql_exp").is_some()
}

/// Accepts a computed field in place of a literal value; expressions are checked by another rule.
pub(super) fn or_computed<T>(
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<()> {
    move |node, problems| if is_computed(node) { Some(()) } else { read(node, problems).map(|_| ()) }
}

#[expect(clippy::unnecessary_wraps, reason = "has the signature of all readers")]
pub(super) fn anything(_: &Node, _: &mut Diagnostics) -> Option<()> {
    Some(())
}

/// Reads text that satisfies a predicate; `form` completes the message "must be …".
pub(super) fn text_like(
    code: &'static str,
    form: &'static str,
    is_valid: impl Fn(&str) -> bool,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<String> {
    move |node, problems| {
        let text = string(node, problems)?;
        if is_valid(&text) {
            return Some(text);
        }
        problems.error(code, node.span, format!("must be {form}, got {}", quoted(&text)));
        None
    }
}

/// Reads non-empty text.
pub(super) fn non_empty_text(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    text_like(codes::TOO_SHORT, "non-empty text", |text| !text.is_empty())(node, problems)
}

/// Reports whether a name consists of at least one letter, digit, `_` or `-`.
pub(super) fn is_plain_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.bytes().all(is_allowed)
}

/// Like [`is_plain_name`], without uppercase letters.
pub(super) fn is_lower_name(text: &str) -> bool {
    is_plain_name(text) && !text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Reads a non-empty list.
pub(super) fn non_empty_list<T>(
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<Vec<T>> {
    let read = list_of(read);
    move |node, problems| {
        let items = read(node, problems)?;
        if items.is_empty() {
            problems.error(codes::TOO_SHORT, head(node), "must have at least one item");
            return None;
        }
        Some(items)
    }
}

/// Reads a map; unknown keys are allowed.
pub(super) fn open_map(read: impl Fn(&mut Fields<'_, '_>)) -> impl Fn(&Node, &mut Diagnostics) -> Option<()> {
    move |node, problems| {
        let mut fields = Fields::new(node, problems)?;
        read(&mut fields);
        fields.remaining();
        Some(())
    }
}

/// Warns about a bind target `model:path` that has no effect.
pub(super) fn bind_target(target: &str, node: &Node, problems: &mut Diagnostics) {
    if !Binding::is_known_target(target) {
        let fields: Vec<String> =
            Binding::CLUSTER_FIELDS.iter().map(|field| format!("`cluster:{field}`")).collect();
        problems
            .warning(codes::BIND_TARGET, node.span, format!("the bind {} has no effect", quoted(target)))
            .set_help(format!("use `settings:SECTION.NAME.value`, {}", fields.join(", ")));
    }
}

/// Reads restrictions in their three forms: a condition, `{condition: message}`, or a full map.
pub(super) fn restrictions(text: &str) -> impl Fn(&Node, &mut Diagnostics) -> Option<()> + '_ {
    restrictions_as(Dialect::RESTRICTION, text)
}

/// Like [`restrictions`], with a dialect of conditions.
pub(super) fn restrictions_as(
    dialect: Dialect,
    text: &str,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<()> + '_ {
    move |node, problems| {
        let restriction =
            |item: &Node, problems: &mut Diagnostics| restriction(item, dialect, text, problems);
        non_empty_list(restriction)(node, problems).map(|_| ())
    }
}

const ACTIONS: &[&str] = &["disable", "hide", "none"];

fn restriction(node: &Node, dialect: Dialect, text: &str, problems: &mut Diagnostics) -> Option<()> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(_)) => restriction_condition(node, dialect, text, problems),
        NodeKind::Map(entries) => match &entries[..] {
            [(key, message)] if key.as_str() != Some("condition") => {
                problems.in_key("message", |problems| string(message, problems));
                restriction_condition(key, dialect, text, problems)
            }
            _ => open_map(|fields| {
                let read = |node: &Node, problems: &mut Diagnostics| {
                    restriction_condition(node, dialect, text, problems)
                };
                fields.required("condition", read);
                fields.optional("message", string);
                fields.optional("action", one_of(ACTIONS));
                fields.optional("strict", stoker_manifest::reader::boolean);
            })(node, problems),
        },
        _ => {
            report_wrong_type(node, "a condition or a map with `condition`", problems);
            None
        }
    }
}

/// Reads the condition of a restriction; a placeholder is only a warning.
fn restriction_condition(
    node: &Node,
    dialect: Dialect,
    text: &str,
    problems: &mut Diagnostics,
) -> Option<()> {
    match node.as_str().filter(|condition| is_placeholder(condition)) {
        Some(condition) => {
            placeholder(condition, node, problems);
            Some(())
        }
        None => condition_as(dialect, node, text, problems),
    }
}

fn placeholder(condition: &str, node: &Node, problems: &mut Diagnostics) {
    let message = format!("{} is a placeholder, so the restriction has no effect", quoted(condition));
    let help =
        "compare a value: `settings:SECTION.NAME.value == true`, in wizards `wizard:PANE.CONTROL == true`";
    problems.warning(codes::RESTRICTION_PLACEHOLDER, node.span, message).set_help(help);
}

/// Warns about placeholders in the restrictions of a document, such as the settings or roles of a release.
pub fn warn_about_placeholders(node: &Node, problems: &mut Diagnostics) {
    let items = |items: &[Node], problems: &mut Diagnostics, visit: fn(&Node, &mut Diagnostics)| {
        for (idx, item) in items.iter().enumerate() {
            problems.in_item(idx, |problems| visit(item, problems));
        }
    };
    match &node.kind {
        NodeKind::Seq(entries) => items(entries, problems, warn_about_placeholders),
        NodeKind::Map(entries) => {
            for (key, value) in entries.iter() {
                let Some(key) = key.as_str() else { continue };
                problems.in_key(key, |problems| match value.as_seq().filter(|_| key == "restrictions") {
                    Some(restrictions) => items(restrictions, problems, restriction_placeholder),
                    None => warn_about_placeholders(value, problems),
                });
            }
        }
        NodeKind::Scalar(_) => {}
    }
}

fn restriction_placeholder(restriction: &Node, problems: &mut Diagnostics) {
    let condition = match restriction.as_map() {
        Some([(key, _)]) if key.as_str() != Some("condition") => Some(key),
        Some(_) => restriction.get("condition"),
        None => Some(restriction),
    };
    if let Some(condition) = condition
        && let Some(text) = condition.as_str().filter(|text| is_placeholder(text))
    {
        placeholder(text, condition, problems);
    }
}

/// Reads the condition of a restriction.
pub(super) fn condition(node: &Node, text: &str, problems: &mut Diagnostics) -> Option<()> {
    condition_as(Dialect::RESTRICTION, node, text, problems)
}

/// Reports whether a condition is text that is meant to be an expression, as in `condition: "yaql_exp: …"`.
pub(super) fn is_inline_expression(condition: &str) -> bool {
    condition.trim_start().starts_with("yaql_exp:")
}

/// Reads a condition in a dialect; `text` is the text of the file.
pub(super) fn condition_as(
    dialect: Dialect,
    node: &Node,
    text: &str,
    problems: &mut Diagnostics,
) -> Option<()> {
    let source = string(node, problems)?;
    let locate = |span: Range<usize>| locate_in_scalar(node, text, span);
    match Condition::parse_as(&source, dialect) {
        Ok(condition) => {
            for warning in condition.warnings() {
                let span = locate(warning.location.span.unwrap_or_default().bytes());
                problems.warning(codes::EXPRESSION_SYNTAX, span, warning.message).help = warning.help;
            }
            Some(())
        }
        Err(error) => {
            let message = format!("invalid condition: {}", error.message);
            problems.error(codes::EXPRESSION_SYNTAX, locate(error.span), message).help = error.help;
            None
        }
    }
}

/// Checks the `regex` of a setting. An invalid pattern is only a warning, because browsers may support a
/// different syntax; the server then accepts every text.
#[expect(clippy::unnecessary_wraps, reason = "has the signature of all readers")]
pub(super) fn regex(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let source = node.get("source").unwrap_or(node);
    let Some(pattern) = source.as_str() else {
        let message = "`regex` has no text `source`, so it has no effect";
        problems.warning(codes::FIELD_PATTERN, head(source), message.to_owned());
        return Some(());
    };
    if let Some(error) = pattern_error(pattern) {
        let message = format!("invalid regular expression, so it has no effect: {error}");
        problems.warning(codes::FIELD_PATTERN, source.span, message);
    }
    Some(())
}

/// Returns the span for a problem with a whole map or list: its beginning.
pub(super) fn head(node: &Node) -> Span {
    match &node.kind {
        NodeKind::Scalar(_) => node.span,
        _ => Span { end: node.span.start, ..node.span },
    }
}
