//! Watching a run until its end.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use stoker_client::{ClientError, Request};

use super::board::{Now, lines};
use super::progress::{Instance, Progress, duration, moment};
use super::show::{failures, tell_failures};
use crate::exit::{Failure, Outcome};
use crate::remote::{Format, Remote, cell};
use crate::terminal;
use crate::text::{counted, one_line};

/// Between two looks at a run that has not begun.
const LOOK: Duration = Duration::from_millis(300);
/// A clock that goes on looks alive.
const REDRAW: Duration = Duration::from_millis(500);
const PAGE: usize = 10_000;
/// A server that is away for so long has its run watched again by hand.
const TRIES_MAX: usize = 60;

/// Says that a run was started, and follows it if that is wanted.
pub(crate) fn started(remote: &mut Remote<'_>, run: &Json, is_followed: bool) -> Outcome {
    let Some(id) = run["id"].as_i64() else { return remote.data(run) };
    if is_followed && remote.is_quiet() && remote.format() == Format::Table {
        remote.printer.data(&id.to_string())?;
    }
    if !is_followed {
        remote.made("started run", run)?;
        if remote.format() == Format::Table {
            remote.note(&format!("`stoker run watch {id}` shows how it goes"));
        }
        return Ok(());
    }
    follow(remote, id)
}

/// Shows what happens until the run has ended; fails if it did.
pub(crate) fn follow(remote: &mut Remote<'_>, id: i64) -> Outcome {
    let is_told = remote.format() == Format::Table && !remote.is_quiet();
    let mut part_idx = 0;
    let (ended, parts) = loop {
        let shown = remote.get(format!("runs/{id}"))?;
        let part = shown["parts"].get(part_idx).cloned().unwrap_or_default();
        if part.is_null() {
            if has_ended(&shown["run"]) {
                let parts = shown["parts"].as_array().cloned().unwrap_or_default();
                break (shown["run"].clone(), parts);
            }
            pause(LOOK);
        } else if part["plan_id"].is_null() && !has_ended(&part["run"]) {
            pause(LOOK);
        } else {
            if is_told && part["plan_id"].is_i64() {
                watch_part(remote, id, &part)?;
            }
            part_idx += 1;
        }
    };
    if remote.format() != Format::Table {
        remote.data(&ended)?;
    }
    if ended["status"] == "ready" {
        return if is_told { tell_end(remote, id, &ended) } else { Ok(()) };
    }
    if is_told && has_begun(&parts) {
        let failed = failures(remote, id)?;
        tell_failures(remote, &failed)?;
    }
    Err(why(id, &ended, &parts))
}

fn has_ended(run: &Json) -> bool {
    matches!(run["status"].as_str(), Some("ready" | "error"))
}

/// ` after 3.2 s`, if that is known.
fn took(run: &Json) -> String {
    let at = |key: &str| run[key].as_str().and_then(moment);
    let took = at("time_start").zip(at("time_end"));
    took.map(|(start, end)| format!(" after {}", duration(end - start))).unwrap_or_default()
}

/// A run that is done may have lost nodes on the way, as many as it may.
fn tell_end(remote: &mut Remote<'_>, id: i64, run: &Json) -> Outcome {
    let mut failed = failures(remote, id)?;
    failed.retain(|record| record["is_ignored"] != true);
    tell_failures(remote, &failed)?;
    let message = one_line(&cell(&run["message"]));
    let nodes: BTreeSet<String> = failed.iter().map(|record| cell(&record["node_id"])).collect();
    let but = match (message.strip_prefix("1 nodes "), nodes.len()) {
        (Some(rest), _) => format!(": 1 node {}", rest.replace("their groups", "its groups")),
        _ if !message.is_empty() => format!(": {message}"),
        (_, 0) => String::new(),
        (_, n_nodes) => format!(": {} failed", counted(n_nodes, "node")),
    };
    Ok(remote.printer.page(&format!("run {id} is done{}{but}", took(run)))?)
}

/// So many problems are told of a run that could not be planned.
const PROBLEMS_MAX: usize = 10;
/// What the server says of a run that somebody stopped.
const STOPPED: &str = "The run was stopped";

/// Whether any of the graphs of a run was planned, so that something of it was run.
fn has_begun(parts: &[Json]) -> bool {
    parts.iter().any(|part| part["plan_id"].is_i64())
}

/// Why a run did not succeed.
fn why(id: i64, run: &Json, parts: &[Json]) -> Failure {
    let message = cell(&run["message"]);
    let took = took(run);
    if message == STOPPED {
        let mut failure = Failure::failed(format!("run {id} was stopped{took}"));
        failure.diagnostics[0].help = Some(format!("`stoker run retry {id}` goes on"));
        return failure;
    }
    let mut lines = message.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().map(|line| format!(": {}", one_line(line))).unwrap_or_default();
    let mut failure = Failure::failed(format!("run {id} failed{took}{first}"));
    let problems: Vec<String> = lines.map(|line| one_line(line.strip_prefix("- ").unwrap_or(line))).collect();
    // The server tells some of them, and how many there are.
    let n_told = message.split(' ').next().and_then(|word| word.parse().ok());
    let n_problems = n_told.unwrap_or(problems.len()).max(problems.len());
    let notes = &mut failure.diagnostics[0].notes;
    notes.extend(problems.into_iter().take(PROBLEMS_MAX));
    if !notes.is_empty() && n_problems > notes.len() {
        let n_more = n_problems - notes.len();
        notes.push(format!("and {n_more} more"));
    }
    let help = if has_begun(parts) {
        format!("`stoker run logs {id}` shows what the tasks printed, `stoker run retry {id}` goes on")
    } else {
        let graph_type = parts.first().map(|part| cell(&part["run"]["graph_type"]));
        let option = graph_type.filter(|graph_type| !graph_type.is_empty() && graph_type != "default");
        let option = option.map(|graph_type| format!(" --type {graph_type}")).unwrap_or_default();
        format!("nothing was run; `stoker plan --env {}{option}` tells it all", cell(&run["cluster"]))
    };
    failure.diagnostics[0].help = Some(help);
    failure
}

/// Follows the events of one graph.
fn watch_part(remote: &mut Remote<'_>, run: i64, part: &Json) -> Outcome {
    let (id, plan) = (cell(&part["run"]["id"]), cell(&part["plan_id"]));
    let instances = instances(remote, &plan)?;
    let estimate = remote.get(format!("plans/{plan}"))?["estimate"]["total_ms"].as_f64();
    let mut view = View {
        title: format!("run {run}, graph {}", cell(&part["run"]["graph_type"])),
        progress: Progress::new(instances),
        estimate: estimate.map(|ms| ms / 1000.0),
        is_drawn: terminal::is_watched(),
        n_lines: 0,
        last_event: now(),
    };
    let (mut after, mut n_tries) = (0, 0);
    loop {
        match follow_events(remote, &id, &mut after, &mut view) {
            Ok(()) => break,
            Err(ClientError::Away { .. }) if n_tries < TRIES_MAX => {
                n_tries += 1;
                pause(Duration::from_secs(1));
            }
            Err(error) => return Err(crate::remote::failure(error, None)),
        }
    }
    view.draw();
    Ok(())
}

fn instances(remote: &mut Remote<'_>, plan: &str) -> Outcome<Vec<Instance>> {
    let mut all = Vec::new();
    loop {
        let request =
            Request::get(format!("plans/{plan}/instances")).query("limit", PAGE).query("offset", all.len());
        // Beyond the end there is nothing to be read, which is how an empty plan begins.
        let page = match remote.try_send(&request) {
            Ok(answer) => answer.json().map_err(|error| crate::remote::failure(error, None))?,
            Err(ClientError::Refused(refusal)) if refusal.status == 416 => break,
            Err(error) => return Err(crate::remote::failure(error, None)),
        };
        let page = page.as_array().cloned().unwrap_or_default();
        all.extend(page.iter().map(|instance| Instance {
            task: cell(&instance["task"]),
            node: cell(&instance["node"]),
            is_run: instance["action"] == "run",
        }));
        if page.len() < PAGE {
            break;
        }
    }
    Ok(all)
}

/// Shows events until the server has told them all. They are read aside, so that the clock goes on meanwhile.
fn follow_events(
    remote: &mut Remote<'_>,
    id: &str,
    after: &mut u64,
    view: &mut View,
) -> Result<(), ClientError> {
    let request = Request::get(format!("runs/{id}/events")).query("after", *after);
    let events = remote.client().events(request)?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for event in events {
            if sender.send(event).is_err() {
                break;
            }
        }
    });
    loop {
        match receiver.recv_timeout(REDRAW) {
            Ok(event) => {
                let event = event?;
                *after = event.data["seq"].as_u64().unwrap_or(*after);
                view.event(&event.data);
            }
            Err(RecvTimeoutError::Timeout) => view.draw(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// What is shown of one graph.
struct View {
    title: String,
    progress: Progress,
    estimate: Option<f64>,
    /// Lines that change on a terminal, or else one after another.
    is_drawn: bool,
    /// Lines that are there already.
    n_lines: usize,
    last_event: Instant,
}

const LINES_DEFAULT: u16 = 24;
const COLUMNS_DEFAULT: u16 = 80;

impl View {
    fn event(&mut self, event: &Json) {
        let said = self.progress.apply(event);
        self.last_event = now();
        if self.is_drawn {
            self.draw();
        } else if let Some(said) = said {
            let time = event["at"].as_str().and_then(|at| at.get(11..19)).unwrap_or_default();
            write(&format!("{time} {}: {}\n", self.title, crate::remote::plain(&said)));
        }
    }

    /// Draws all lines anew, over those that are there.
    fn draw(&mut self) {
        if !self.is_drawn {
            return;
        }
        let now = Now {
            since_last: self.last_event.elapsed().as_secs_f64(),
            estimate: self.estimate,
            width: usize::from(terminal::width().unwrap_or(COLUMNS_DEFAULT)).saturating_sub(1),
            lines_max: usize::from(terminal::height().unwrap_or(LINES_DEFAULT)),
        };
        let drawn = lines(&self.title, &self.progress, &now);
        let up = if self.n_lines > 0 { format!("\u{1b}[{}A", self.n_lines) } else { String::new() };
        // Each line ends with the order to clear what was right of it.
        write(&format!("{up}{}\u{1b}[K\n\u{1b}[J", drawn.join("\u{1b}[K\n")));
        self.n_lines = drawn.len();
    }
}

fn write(text: &str) {
    // Whoever does not read any more is no reason to fail: the run goes on without being watched.
    let mut out = anstream::stdout().lock();
    _ = out.write_all(text.as_bytes());
    _ = out.flush();
}

#[expect(clippy::disallowed_methods, reason = "a clock for people who wait")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a command has nothing else to do meanwhile")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn problems_of_planning_are_told_one_by_one() {
        let problems: Vec<String> =
            (0..20).map(|n| format!("- task `t{n}`, condition: there is no key 'x' in `$.x`")).collect();
        let run = json!({"cluster": 4, "message": format!("27 problems\n{}", problems.join("\n"))});
        let part = json!({"plan_id": null, "run": {"graph_type": "upgrade"}});
        let failure = why(7, &run, &[part]);
        let told = &failure.diagnostics[0];
        assert_eq!(told.message, "run 7 failed: 27 problems");
        assert_eq!(told.notes.len(), PROBLEMS_MAX + 1);
        assert_eq!(told.notes[0], "task `t0`, condition: there is no key 'x' in `$.x`");
        assert_eq!(told.notes.last().map(String::as_str), Some("and 17 more"));
        let help = told.help.as_deref().unwrap_or_default();
        assert!(help.contains("`stoker plan --env 4 --type upgrade`") && !help.contains("logs"), "{help}");
    }

    #[test]
    fn what_was_stopped_did_not_fail() {
        let cases = [
            (json!({"message": STOPPED}), "run 7 was stopped", "goes on"),
            (json!({"message": "3 nodes are away"}), "run 7 failed: 3 nodes are away", "stoker run logs 7"),
            (json!({"message": null}), "run 7 failed", "stoker run logs 7"),
        ];
        for (run, message, help) in cases {
            let told = why(7, &run, &[json!({"plan_id": 1})]).diagnostics.remove(0);
            assert_eq!(told.message, message);
            assert!(told.notes.is_empty() && told.help.is_some_and(|told| told.contains(help)));
        }
    }
}
