//! What follows when a cluster moves to another release.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use serde_json::{Value as Json, json};
use stoker_api_types::clusters::{
    GraphMove, PluginMove, ReleaseMoveEnd, ReleaseMoveView, RoleMove, SettingMove,
};
use stoker_client::Method;
use stoker_diagnostics::Diagnostic;

use crate::exit::{Exit, Failure, Outcome};
use crate::remote::{Format, Remote, sanitize, typed};

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();

/// Prints what follows, and fails if the server would refuse the change.
pub(super) fn preview(cluster: i64, release: i64, remote: &mut Remote<'_>) -> Outcome {
    let body = json!({"release_id": release});
    let response = remote.send_json(Method::Post, format!("clusters/{cluster}/release/preview"), &body)?;
    let view: ReleaseMoveView = typed(&response)?;
    match remote.format() {
        Format::Table => remote.printer.page(&text(&view))?,
        _ => remote.data(&response)?,
    }
    if view.errors.is_empty() {
        return Ok(());
    }
    let refusals = view.errors.into_iter();
    let diagnostics =
        refusals.map(|item| Diagnostic::plain(sanitize(&item.message)).help_if(item.help)).collect();
    Err(Failure { exit: Exit::Failed, diagnostics })
}

fn text(view: &ReleaseMoveView) -> String {
    let mut out = String::new();
    let end = |end: &ReleaseMoveEnd| format!("{} {}", sanitize(&end.name), sanitize(&end.version));
    _ = writeln!(out, "release: {} → {}", end(&view.from), end(&view.to));
    for graph in &view.graphs {
        write_graph(&mut out, graph);
    }
    write_section(&mut out, "settings", view.settings.iter().map(setting_line).collect());
    let RoleMove { added, removed } = &view.roles;
    let added = added.iter().map(|role| format!("{ADDED}+ {}{ADDED:#}", sanitize(role)));
    let removed = removed.iter().map(|role| format!("{REMOVED}- {}{REMOVED:#}", sanitize(role)));
    write_section(&mut out, "roles", added.chain(removed).collect());
    write_section(&mut out, "plugins", view.plugins.iter().map(plugin_line).collect());
    if out.lines().count() == 1 {
        out.push_str("\nnothing else changes\n");
    }
    write_section(&mut out, "warnings", view.warnings.iter().map(|item| sanitize(&item.message)).collect());
    out
}

fn write_graph(out: &mut String, graph: &GraphMove) {
    let GraphMove { graph_type, added, removed, changed } = graph;
    let added = added.iter().map(|task| format!("{ADDED}+ {}{ADDED:#}", sanitize(task)));
    let removed = removed.iter().map(|task| format!("{REMOVED}- {}{REMOVED:#}", sanitize(task)));
    let changed = changed.iter().map(|task| {
        format!("{CHANGED}~ {}{CHANGED:#}: {}", sanitize(&task.id), sanitize(&task.fields.join(", ")))
    });
    let title = format!("tasks of graph `{}`", sanitize(graph_type));
    write_section(out, &title, added.chain(removed).chain(changed).collect());
}

fn write_section(out: &mut String, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    _ = writeln!(out, "\n{title}:");
    for line in lines {
        _ = writeln!(out, "  {line}");
    }
}

fn setting_line(setting: &SettingMove) -> String {
    let SettingMove { path, change, old, new, reason } = setting;
    let value = |value: &Json| sanitize(&value.to_string());
    let values = match (old, new) {
        (Some(old), Some(new)) if old != new => format!(": {} → {}", value(old), value(new)),
        (Some(only), _) | (None, Some(only)) => format!(": {}", value(only)),
        (None, None) => String::new(),
    };
    let reason = reason.as_ref().map(|reason| format!(" ({})", sanitize(reason))).unwrap_or_default();
    format!("{change:<9} {}{values}{reason}", sanitize(path))
}

fn plugin_line(plugin: &PluginMove) -> String {
    let PluginMove { name, version, change, new_version } = plugin;
    let by = new_version.as_ref().map(|version| format!(" by {}", sanitize(version))).unwrap_or_default();
    format!("{} {}: {}{by}", sanitize(name), sanitize(version), sanitize(change))
}
