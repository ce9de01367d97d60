//! Live progress display of a run: one line per node.

use anstyle::{AnsiColor, Style};

use super::progress::{Node, Progress, duration};
use crate::remote::sanitize;
use crate::text::{counted, truncate_line};

const BAR_CHARS: usize = 12;
const NAME_CHARS_MAX: usize = 20;
const SUCCESS: Style = AnsiColor::Green.on_default();
const FAILURE: Style = AnsiColor::Red.on_default();
const BOLD: Style = Style::new().bold();

/// Inputs of the display besides the events.
pub(super) struct DisplayState {
    /// Seconds since the last event, measured by the local clock.
    pub(super) since_last: f64,
    /// Estimated duration of the plan in seconds.
    pub(super) estimate: Option<f64>,
    pub(super) width: usize,
    pub(super) lines_max: usize,
}

/// Renders at most `lines_max` lines of at most `width` characters; active nodes come first if not all fit.
pub(super) fn lines(title: &str, progress: &Progress, now: &DisplayState) -> Vec<String> {
    let (n_finished, n_total) = progress.counts();
    let present = progress.last.map(|last| last + now.since_last);
    let elapsed = progress.first.zip(present).map_or(0.0, |(first, present)| present - first);
    let state = if progress.is_paused { ", paused" } else { "" };
    let estimate = now.estimate.map(|seconds| format!(" of about {}", duration(seconds))).unwrap_or_default();
    let tasks = counted(n_total, "task");
    let head = format!("{title}: {n_finished} of {tasks}{state}, {}{estimate}", duration(elapsed));
    let mut out = vec![format!("{BOLD}{}{BOLD:#}", truncate_line(&head, now.width))];
    let n_room = now.lines_max.saturating_sub(2).max(1);
    let mut nodes: Vec<&Node> = progress.nodes.iter().collect();
    if nodes.len() > n_room {
        nodes.sort_by_key(|node| (node.current.is_empty(), node.n_failed == 0, node.has_ended()));
    }
    let name_chars =
        nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0).min(NAME_CHARS_MAX);
    let count_chars = nodes.iter().map(|node| node.n_total.to_string().len()).max().unwrap_or(1);
    for node in nodes.iter().take(n_room) {
        out.push(line(node, present, name_chars, count_chars, now));
    }
    if nodes.len() > n_room {
        out.push(format!("… and {}", counted(nodes.len() - n_room, "more node")));
    }
    out
}

fn line(
    node: &Node,
    present: Option<f64>,
    name_chars: usize,
    count_chars: usize,
    now: &DisplayState,
) -> String {
    let n_finished = node.n_done + node.n_failed + node.n_unfinished;
    let n_full = (n_finished * BAR_CHARS).checked_div(node.n_total).unwrap_or(BAR_CHARS).min(BAR_CHARS);
    let bar = format!("{}{}", "█".repeat(n_full), "░".repeat(BAR_CHARS - n_full));
    let name = truncate_line(&sanitize(&node.name), NAME_CHARS_MAX);
    let counts = format!("{n_finished:>count_chars$}/{:<count_chars$}", node.n_total);
    let time = times(node, present, now.estimate);
    let fixed = "node ".len() + name_chars + 2 + BAR_CHARS + 2 + counts.len() + 2;
    let room = now.width.saturating_sub(fixed + time.chars().count() + 2);
    let activity = truncate_line(&activity(node), room.max(1));
    let style = match (node.n_failed, node.has_ended()) {
        (1.., _) => FAILURE,
        (0, true) => SUCCESS,
        _ => Style::new(),
    };
    let text = format!("node {name:<name_chars$}  {bar}  {counts}  {activity:<room$}  {time}");
    format!("{style}{}{style:#}", text.trim_end())
}

fn activity(node: &Node) -> String {
    match (node.n_failed, node.current.as_slice()) {
        (1.., []) if node.has_ended() => format!("{} failed", node.n_failed),
        (0, []) if node.n_unfinished > 0 && node.has_ended() => "did not finish".to_owned(),
        (0, []) if node.has_ended() => "done".to_owned(),
        (_, []) => "waiting".to_owned(),
        (_, current) => sanitize(&current.join(", ")),
    }
}

/// Returns the elapsed and the estimated remaining time. The estimate extrapolates the average time per
/// finished task; before the first task has finished, it uses the estimate of the plan.
fn times(node: &Node, present: Option<f64>, estimate: Option<f64>) -> String {
    let end = if node.has_ended() { node.last } else { present };
    let Some(elapsed) = node.started_at.zip(end).map(|(started_at, end)| end - started_at) else {
        return estimate.map(|seconds| format!("about {}", duration(seconds))).unwrap_or_default();
    };
    if node.has_ended() {
        return duration(elapsed);
    }
    let n_open = node.n_total.saturating_sub(node.n_done + node.n_failed + node.n_unfinished);
    let remaining = match node.n_done {
        0 => estimate.map(|seconds| (seconds - elapsed).max(0.0)),
        n_done => Some(elapsed / n_done as f64 * n_open as f64),
    };
    let remaining =
        remaining.map(|seconds| format!(", about {} left", duration(seconds))).unwrap_or_default();
    format!("{}{remaining}", duration(elapsed))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_api_types::runs::EventView;

    use super::super::progress::Instance;
    use super::*;

    fn progress() -> Progress {
        let mut instances = Vec::new();
        for node in 1..=3 {
            for task in ["install-the-whole-distributed-shop-with-everything", "configure"] {
                instances.push(Instance { task: task.to_owned(), node: node.to_string(), is_run: true });
            }
        }
        let mut progress = Progress::new(instances);
        let done = json!({"end": {"how": "succeeded"}, "next": {"outcome": "succeeded"}});
        let failed = json!({"end": {"how": "failed", "message": "x"}, "next": {"outcome": "failed"}});
        let events = [
            ("began", json!(null), "00", json!({})),
            ("started", json!(0), "00", json!({})),
            ("started", json!(2), "00", json!({})),
            ("attempt_ended", json!(0), "12", done),
            ("attempt_ended", json!(2), "13", failed),
            ("resolved", json!(null), "13", json!({"ends": [[3, "node_failed", 2]]})),
            ("started", json!(1), "14", json!({})),
        ];
        for (event_kind, instance, at, body) in events {
            let (at, kind) = (format!("2026-01-31T07:00:{at}"), event_kind.to_owned());
            let instance = instance.as_i64();
            progress.apply(&EventView { seq: 1, part: 1, at, kind, instance, body });
        }
        progress
    }

    #[test]
    fn output_fits_the_terminal() {
        for (width, lines_max) in [(80, 24), (160, 24), (40, 24), (10, 24), (80, 3)] {
            let now = DisplayState { since_last: 1.0, estimate: Some(60.0), width, lines_max };
            let lines_drawn = lines("run 7", &progress(), &now);
            assert!(lines_drawn.len() <= lines_max, "{lines_drawn:?}");
            let plain: Vec<String> =
                lines_drawn.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
            if width >= 80 {
                assert!(plain.iter().all(|line| line.chars().count() <= width), "{plain:#?}");
                insta::assert_snapshot!(format!("board-{width}-{lines_max}"), plain.join("\n"));
            }
        }
    }
}
