//! Follows a run until it ends.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Deserialize as _;
use serde_json::Value as Json;
use stoker_api_types::plans::{InstanceView, PlanSummary};
use stoker_api_types::runs::{EventView, PartView, RunDetails};
use stoker_api_types::transactions::RunView;
use stoker_client::{ClientError, RestRequest};
use stoker_diagnostics::{Diagnostic, DiagnosticNote};
use stoker_model::RunEnd;

use super::board::{DisplayState, lines};
use super::progress::{Instance, Progress};
use super::show::{elapsed_run, failures, print_failures};
use crate::exit::{Exit, Failure, Outcome};
use crate::remote::{Format, Remote, sanitize, typed};
use crate::terminal;
use crate::text::{collapse_whitespace, counted};

/// Poll interval for a run that has not started.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Redraw interval without events, so that the elapsed time keeps counting.
const REDRAW_INTERVAL: Duration = Duration::from_millis(500);
const PAGE_SIZE: usize = 10_000;
/// Maximum number of events that are received but not shown yet; the server holds further ones back.
const EVENTS_MAX: usize = 1024;
/// Maximum number of reconnection attempts to an unreachable server, one per second.
const RECONNECTS_MAX: usize = 60;

/// Reports a started run and follows it if requested.
pub(crate) fn report_started(remote: &mut Remote<'_>, run: &Json, is_followed: bool) -> Outcome {
    let id = typed::<RunView>(run)?.id;
    if is_followed && remote.is_quiet() && remote.format() == Format::Table {
        remote.printer.data(&id.to_string())?;
    }
    if !is_followed {
        remote.report_change("started run", run)?;
        if remote.format() == Format::Table {
            remote.note(&format!("run `stoker run watch {id}` to follow it"));
        }
        return Ok(());
    }
    follow(remote, id)
}

/// Shows progress until the run ends; fails if the run fails.
pub(crate) fn follow(remote: &mut Remote<'_>, id: i64) -> Outcome {
    let is_printed = remote.format() == Format::Table && !remote.is_quiet();
    let mut child_idx = 0;
    let (response, details) = loop {
        let response = remote.get(format!("runs/{id}"))?;
        let details: RunDetails = typed(&response)?;
        match details.parts.get(child_idx) {
            None if has_ended(&details.run) => break (response, details),
            None => pause(POLL_INTERVAL),
            Some(child) if child.plan_id.is_none() && !has_ended(&child.run) => pause(POLL_INTERVAL),
            Some(child) => {
                if let Some(plan) = child.plan_id.filter(|_| is_printed) {
                    follow_child(remote, id, &child.run, plan)?;
                }
                child_idx += 1;
            }
        }
    };
    if remote.format() != Format::Table {
        remote.data(response.get("run").unwrap_or(&response))?;
    }
    let RunDetails { run, parts: children } = details;
    if run.status == "ready" {
        return if is_printed { report_success(remote, id, &run) } else { Ok(()) };
    }
    if is_printed && has_begun(&children) {
        let failed = failures(remote, id)?;
        print_failures(remote, &failed)?;
    }
    Err(run_failure(id, &run, &children))
}

fn has_ended(run: &RunView) -> bool {
    matches!(run.status.as_str(), "ready" | "error")
}

/// Returns a suffix such as ` after 3.2 s`, or an empty string if the times are unknown.
fn elapsed_suffix(run: &RunView) -> String {
    let elapsed = elapsed_run(run);
    if elapsed.is_empty() { elapsed } else { format!(" after {elapsed}") }
}

/// Reports success. A successful run can contain failed nodes within the tolerance of their groups.
fn report_success(remote: &mut Remote<'_>, id: i64, run: &RunView) -> Outcome {
    let mut failed = failures(remote, id)?;
    failed.retain(|record| !record.is_ignored);
    print_failures(remote, &failed)?;
    let message = collapse_whitespace(&message(run));
    let nodes: BTreeSet<&str> = failed.iter().map(|record| record.node_id.as_str()).collect();
    let note = match (message.strip_prefix("1 nodes "), nodes.len()) {
        (Some(rest), _) => format!(": 1 node {}", rest.replace("their groups", "its groups")),
        _ if !message.is_empty() => format!(": {message}"),
        (_, 0) => String::new(),
        (_, n_nodes) => format!(": {} failed", counted(n_nodes, "node")),
    };
    Ok(remote.printer.page(&format!("run {id} succeeded{}{note}", elapsed_suffix(run)))?)
}

/// Maximum number of planning problems printed.
const PROBLEMS_MAX: usize = 10;

/// Reports whether at least one graph of the run was planned, so that tasks may have run.
fn has_begun(children: &[PartView]) -> bool {
    children.iter().any(|child| child.plan_id.is_some())
}

fn message(run: &RunView) -> String {
    sanitize(run.message.as_deref().unwrap_or_default())
}

/// Builds the failure of an unsuccessful run.
fn run_failure(id: i64, run: &RunView, children: &[PartView]) -> Failure {
    let message = message(run);
    let elapsed = elapsed_suffix(run);
    if run.stopped {
        let mut failure = Failure::failed(format!("run {id} was stopped{elapsed}"));
        failure.diagnostics[0].help = Some(format!("run `stoker run retry {id}` to continue"));
        return failure;
    }
    if run.outcome.as_deref() == Some(RunEnd::Partial.as_str()) {
        return partial_failure(
            run,
            &format!("run {id} is partial{elapsed}: {}", collapse_whitespace(&message)),
        );
    }
    let mut lines = message.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().map(|line| format!(": {}", collapse_whitespace(line))).unwrap_or_default();
    let mut failure = Failure::failed(format!("run {id} failed{elapsed}{first}"));
    let problems: Vec<String> =
        lines.map(|line| collapse_whitespace(line.strip_prefix("- ").unwrap_or(line))).collect();
    // The message of the server starts with the total number of problems and lists only some of them.
    let n_reported = message.split(' ').next().and_then(|word| word.parse().ok());
    let n_problems = n_reported.unwrap_or(problems.len()).max(problems.len());
    let notes = &mut failure.diagnostics[0].notes;
    notes.extend(problems.into_iter().take(PROBLEMS_MAX).map(DiagnosticNote::from));
    if !notes.is_empty() && n_problems > notes.len() {
        let n_more = n_problems - notes.len();
        notes.push(format!("and {n_more} more").into());
    }
    let help = if has_begun(children) {
        format!("run `stoker run logs {id}` to see the output of tasks, `stoker run retry {id}` to continue")
    } else {
        let graph_type = children.first().and_then(|child| child.run.graph_type.clone());
        let option = graph_type.filter(|graph_type| !graph_type.is_empty() && graph_type != "default");
        let option = option.map(|graph_type| format!(" --type {graph_type}")).unwrap_or_default();
        format!(
            "no tasks were run; run `stoker plan --env {}{option}` to see all problems",
            run.cluster.map(|cluster| cluster.to_string()).unwrap_or_default()
        )
    };
    failure.diagnostics[0].help = Some(help);
    failure
}

/// Builds the failure of a run that left out offline nodes. Scripts tell it from a success by its exit code.
fn partial_failure(run: &RunView, message: &str) -> Failure {
    let cluster = run.cluster.map(|cluster| cluster.to_string()).unwrap_or_default();
    let help = format!("when the nodes are online, run `stoker apply --env {cluster}` to include them");
    Failure::new(Exit::Partial, Diagnostic::plain(message).help(help))
}

/// Follows the events of one child run.
fn follow_child(remote: &mut Remote<'_>, run: i64, child: &RunView, plan: i64) -> Outcome {
    let instances = instances(remote, plan)?;
    let estimate = remote.read::<PlanSummary>(format!("plans/{plan}"))?.estimate;
    let graph_type = sanitize(child.graph_type.as_deref().unwrap_or_default());
    let mut view = View {
        title: format!("run {run}, graph {graph_type}"),
        progress: Progress::new(instances),
        estimate: Some(estimate.total_ms as f64 / 1000.0),
        is_interactive: terminal::is_terminal_output(),
        n_lines: 0,
        last_event: now(),
    };
    let (mut after, mut n_reconnects) = (0, 0);
    loop {
        match follow_events(remote, child.id, &mut after, &mut view) {
            Ok(()) => break,
            Err(ClientError::Unreachable { .. }) if n_reconnects < RECONNECTS_MAX => {
                n_reconnects += 1;
                pause(Duration::from_secs(1));
            }
            Err(error) => return Err(crate::remote::failure(error, None)),
        }
    }
    view.draw();
    Ok(())
}

fn instances(remote: &mut Remote<'_>, plan: i64) -> Outcome<Vec<Instance>> {
    let mut instances = Vec::new();
    loop {
        let request = RestRequest::get(format!("plans/{plan}/instances"))
            .query("limit", PAGE_SIZE)
            .query("offset", instances.len());
        // An offset at the end of the list is rejected with 416; this ends the loop for empty plans too.
        let page = match remote.try_send(&request) {
            Ok(answer) => answer.json().map_err(|error| crate::remote::failure(error, None))?,
            Err(ClientError::Rejected(refusal)) if refusal.status == 416 => break,
            Err(error) => return Err(crate::remote::failure(error, None)),
        };
        let page: Vec<InstanceView> = typed(&page)?;
        let n_instances = page.len();
        instances.extend(page.into_iter().map(|instance| Instance {
            task: sanitize(&instance.task),
            node: sanitize(&instance.node),
            is_run: instance.action == "run",
        }));
        if n_instances < PAGE_SIZE {
            break;
        }
    }
    Ok(instances)
}

/// Shows events until the stream ends. A thread reads them, so that redraws are not blocked.
fn follow_events(
    remote: &mut Remote<'_>,
    id: i64,
    after: &mut i64,
    view: &mut View,
) -> Result<(), ClientError> {
    let request = RestRequest::get(format!("runs/{id}/events")).query("after", *after);
    let events = remote.client().events(request)?;
    let (sender, receiver) = mpsc::sync_channel(EVENTS_MAX);
    std::thread::spawn(move || {
        for event in events {
            if sender.send(event).is_err() {
                break;
            }
        }
    });
    loop {
        match receiver.recv_timeout(REDRAW_INTERVAL) {
            Ok(event) => {
                let event = event?;
                // Unknown events of newer servers are ignored.
                if let Ok(event) = EventView::deserialize(&event.data) {
                    *after = event.seq;
                    view.event(&event);
                }
            }
            Err(RecvTimeoutError::Timeout) => view.draw(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Display state of one child run.
struct View {
    title: String,
    progress: Progress,
    estimate: Option<f64>,
    /// Whether lines are redrawn in place (terminal) instead of appended.
    is_interactive: bool,
    /// Number of lines drawn so far, which the next redraw overwrites.
    n_lines: usize,
    last_event: Instant,
}

const LINES_DEFAULT: u16 = 24;
const COLUMNS_DEFAULT: u16 = 80;

impl View {
    fn event(&mut self, event: &EventView) {
        let message = self.progress.apply(event);
        self.last_event = now();
        if self.is_interactive {
            self.draw();
        } else if let Some(message) = message {
            let time = event.at.get(11..19).unwrap_or_default();
            write(&format!("{time} {}: {}\n", self.title, crate::remote::sanitize(&message)));
        }
    }

    /// Redraws all lines in place.
    fn draw(&mut self) {
        if !self.is_interactive {
            return;
        }
        let now = DisplayState {
            since_last: self.last_event.elapsed().as_secs_f64(),
            estimate: self.estimate,
            width: usize::from(terminal::width().unwrap_or(COLUMNS_DEFAULT)).saturating_sub(1),
            lines_max: usize::from(terminal::height().unwrap_or(LINES_DEFAULT)),
        };
        let output = lines(&self.title, &self.progress, &now);
        let up = if self.n_lines > 0 { format!("\u{1b}[{}A", self.n_lines) } else { String::new() };
        // `ESC [K` clears the rest of each line.
        write(&format!("{up}{}\u{1b}[K\n\u{1b}[J", output.join("\u{1b}[K\n")));
        self.n_lines = output.len();
    }
}

fn write(text: &str) {
    // Ignore a closed pipe: the run continues without a viewer.
    let mut out = anstream::stdout().lock();
    _ = out.write_all(text.as_bytes());
    _ = out.flush();
}

#[expect(clippy::disallowed_methods, reason = "the clock of the progress display")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the command polls and has nothing else to do")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(message: Option<&str>) -> RunView {
        RunView {
            id: 7,
            cluster: Some(4),
            uuid: String::new(),
            name: "deploy".to_owned(),
            status: "error".to_owned(),
            progress: 100,
            message: message.map(str::to_owned),
            result: Json::Null,
            dry_run: false,
            stopped: false,
            outcome: None,
            graph_type: Some("upgrade".to_owned()),
            time_start: None,
            time_end: None,
            parent_id: None,
        }
    }

    fn child(plan_id: Option<i64>) -> PartView {
        PartView { run: run(None), plan_id, request: Json::Null, last_event: 0, is_paused: false }
    }

    #[test]
    fn planning_problems_are_listed() {
        let problems: Vec<String> =
            (0..20).map(|n| format!("- task `t{n}`, condition: there is no key 'x' in `$.x`")).collect();
        let run = run(Some(&format!("27 problems\n{}", problems.join("\n"))));
        let failure = run_failure(7, &run, &[child(None)]);
        let diagnostic = &failure.diagnostics[0];
        assert_eq!(diagnostic.message, "run 7 failed: 27 problems");
        assert_eq!(diagnostic.notes.len(), PROBLEMS_MAX + 1);
        assert_eq!(diagnostic.notes[0].message, "task `t0`, condition: there is no key 'x' in `$.x`");
        assert_eq!(diagnostic.notes.last().map(|note| &*note.message), Some("and 17 more"));
        let help = diagnostic.help.as_deref().unwrap_or_default();
        assert!(help.contains("`stoker plan --env 4 --type upgrade`") && !help.contains("logs"), "{help}");
    }

    #[test]
    fn stopped_run_is_not_reported_as_failed() {
        let cases = [
            (true, Some("any text"), "run 7 was stopped", "to continue"),
            (false, Some("3 nodes are away"), "run 7 failed: 3 nodes are away", "stoker run logs 7"),
            (false, None, "run 7 failed", "stoker run logs 7"),
        ];
        for (stopped, text, message, help) in cases {
            let run = RunView { stopped, ..run(text) };
            let diagnostic = run_failure(7, &run, &[child(Some(1))]).diagnostics.remove(0);
            assert_eq!(diagnostic.message, message);
            assert!(
                diagnostic.notes.is_empty()
                    && diagnostic.help.is_some_and(|diagnostic| diagnostic.contains(help))
            );
        }
    }

    #[test]
    fn partial_run_has_its_own_exit_code() {
        let outcome = |outcome: &str| RunView {
            outcome: Some(outcome.to_owned()),
            ..run(Some("Node 3 is offline and was left out of the run"))
        };
        let failure = run_failure(7, &outcome("partial"), &[child(Some(1))]);
        assert_eq!(failure.exit.code(), 6);
        assert_eq!(
            failure.diagnostics[0].message,
            "run 7 is partial: Node 3 is offline and was left out of the run"
        );
        assert!(failure.diagnostics[0].help.as_deref().is_some_and(|help| help.contains("--env 4")));
        for other in ["failed", "an outcome of a newer server"] {
            assert_eq!(run_failure(7, &outcome(other), &[child(Some(1))]).exit, Exit::Failed);
        }
    }
}
