//! Converts errors of the server to diagnostics; problems of an uploaded file are shown in its source.

use stoker_client::{ClientError, ErrorResponse, Reason};
use stoker_manifest::codes;
use stoker_model::codes as rejected;

use super::table::sanitize;
use crate::diagnostic::{Diagnostic, Severity, SourceLocation};
use crate::exit::{Exit, Failure};
use crate::input::Text;

/// Converts a client error. `sent` is the file that was the body of the request.
pub(crate) fn failure(error: ClientError, sent: Option<&Text>) -> Failure {
    match error {
        ClientError::Rejected(refusal) => rejection(&refusal, sent),
        ClientError::Address { .. } => {
            Failure::usage(error.to_string(), "use a URL such as `http://127.0.0.1:8000`")
        }
        ClientError::Certificates { .. } | ClientError::Tls(_) => Failure::input(error.to_string()),
        ClientError::Unreachable { .. } | ClientError::InvalidResponse { .. } => {
            let help = "check `--server`, or start a server with `stoker serve`";
            let diagnostic = Diagnostic::error(error.to_string()).help(Some(help.to_owned()));
            Failure::new(Exit::Unavailable, diagnostic)
        }
    }
}

/// Names the option that overrides a rejection, for commands that have it.
pub(crate) fn with_force_hint(mut failure: Failure) -> Failure {
    for diagnostic in &mut failure.diagnostics {
        if let Some(rejected::CLUSTER_LOCKED | rejected::NOT_HOT_PLUGGABLE) = diagnostic.code.as_deref() {
            diagnostic.help = Some("pass `--force` to override".to_owned());
        }
    }
    failure
}

fn rejection(refusal: &ErrorResponse, sent: Option<&Text>) -> Failure {
    let mut reasons: Vec<&Reason> =
        refusal.errors.iter().filter(|reason| !reason.message.is_empty()).collect();
    // Drop the summary of duplicate tasks when each duplicate is reported with its line.
    let is_duplicate = |reason: &&Reason| reason.code.as_deref() == Some(codes::DUPLICATE_TASK);
    if reasons.iter().any(|reason| is_duplicate(reason) && reason.line.is_some()) {
        reasons.retain(|reason| !is_duplicate(reason) || reason.line.is_some());
    }
    let is_located = sent.is_some() && reasons.iter().any(|reason| reason.line.is_some());
    let exit = match refusal.status {
        429 | 500.. => Exit::Unavailable,
        _ if is_located => Exit::Input,
        _ => Exit::Failed,
    };
    let diagnostics = if reasons.is_empty() {
        vec![Diagnostic::error(in_own_terms(&refusal.message)).help(hint(refusal.status))]
    } else {
        reasons.iter().map(|reason| diagnostic(reason, sent)).collect()
    };
    Failure { exit, diagnostics }
}

fn hint(status: u16) -> Option<String> {
    let hint = match status {
        401 => "log in with `stoker login`, or pass a token with `--token`",
        403 => "run `stoker whoami` to see your roles",
        429 => "wait a minute and retry",
        _ => return None,
    };
    Some(hint.to_owned())
}

pub(crate) fn diagnostic(reason: &Reason, sent: Option<&Text>) -> Diagnostic {
    let location = sent.zip(reason.line).map(|(text, line)| locate(text, line, reason.column));
    let message = without_help(reason);
    let has_path =
        !reason.path.is_empty() && (message.starts_with(&reason.path) || message.starts_with("task `"));
    let message = match &location {
        None if !reason.path.is_empty() && !has_path => format!("{}: {message}", reason.path),
        _ => message,
    };
    let mut diagnostic = Diagnostic::error(lower_first(&message)).help(reason.help.clone());
    if reason.severity.as_deref() == Some("warning") {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic.code.clone_from(&reason.code);
    if location.is_none() {
        diagnostic.notes.extend(origin(reason.layer.as_deref(), reason.file.as_deref(), reason.line));
    }
    if let Some(location) = location {
        diagnostic = diagnostic.at(location);
    }
    if !reason.nodes.is_empty() && !diagnostic.message.contains(", on node") {
        diagnostic.notes.push(format!("on node {}", reason.nodes.join(", ")));
    }
    diagnostic
}

/// Describes the layer, file and line that a problem comes from, as far as they are known.
pub(crate) fn origin(layer: Option<&str>, file: Option<&str>, line: Option<u32>) -> Option<String> {
    let location = match (file, line) {
        (Some(file), Some(line)) => Some(format!("{}:{line}", sanitize(file))),
        (Some(file), None) => Some(sanitize(file)),
        // Without a layer, the line is one of a request body that the command composed.
        (None, Some(line)) if layer.is_some() => Some(format!("line {line} of the uploaded file")),
        (None, _) => None,
    };
    let layer = layer.map(|layer| format!("layer `{}`", sanitize(layer)));
    let parts: Vec<String> = location.into_iter().chain(layer).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Removes the hint from the message: it is printed separately.
fn without_help(reason: &Reason) -> String {
    let help = reason.help.as_ref().map(|help| format!(" ({help})"));
    help.and_then(|help| reason.message.strip_suffix(help.as_str())).unwrap_or(&reason.message).to_owned()
}

/// Location of the word at a 1-based line and column, or of the first word of the line.
fn locate(text: &Text, line: u32, column: Option<u32>) -> SourceLocation {
    let content: &str = &text.content;
    let line_start = match line {
        0 | 1 => 0,
        _ => content.match_indices('\n').nth(line as usize - 2).map_or(content.len(), |(at, _)| at + 1),
    };
    let rest = &content[line_start..];
    let indent = || rest.chars().take_while(|letter| matches!(letter, ' ' | '-')).count();
    let n_before = column.map_or_else(indent, |column| column.saturating_sub(1) as usize);
    let column_bytes = rest.chars().take(n_before).map(char::len_utf8).sum::<usize>();
    let start = line_start + column_bytes;
    let is_end = |letter: char| letter.is_whitespace() || ",}]'\"".contains(letter);
    let len = content[start..].find(is_end).unwrap_or(content.len() - start);
    // Exclude the colon after a key.
    let len = len - usize::from(content[start..start + len].ends_with(':'));
    SourceLocation::new(&text.origin, text.content.clone(), start..start + len.max(1))
}

/// Names of resources in compatible error messages of the server, and their names in commands.
const RESOURCE_NAMES: &[(&str, &str)] =
    &[("DeploymentGraph ", "graph "), ("DeploymentSequence ", "sequence "), ("Transaction ", "run ")];

/// Replaces the name of the resource at the start of a server message by the one that commands use.
fn in_own_terms(message: &str) -> String {
    let renamed = RESOURCE_NAMES.iter().find_map(|(theirs, own)| Some((own, message.strip_prefix(theirs)?)));
    renamed.map_or_else(|| lower_first(message), |(own, rest)| format!("{own}{rest}"))
}

/// Lowercases the first letter of a server message. Acronyms and names keep theirs.
fn lower_first(message: &str) -> String {
    let mut letters = message.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            format!("{}{}", first.to_lowercase(), &message[first.len_utf8()..])
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> Text {
        Text { origin: "tasks.yaml".to_owned(), content: "- id: ä\n  type: shel, x\n".into() }
    }

    #[test]
    fn locate_returns_the_word_at_line_and_column() {
        let word = |line, column: u32| {
            let location = locate(&sent(), line, Some(column));
            location.text.get(location.span).map(str::to_owned)
        };
        assert_eq!(word(1, 7).as_deref(), Some("ä"));
        assert_eq!(word(2, 9).as_deref(), Some("shel"));
        assert_eq!(word(2, 3).as_deref(), Some("type"));
        for (line, column) in [(0, 0), (3, 1), (9, 9), (2, 900)] {
            word(line, column);
        }
        for (line, expected) in [(1, "id"), (2, "type")] {
            let location = locate(&sent(), line, None);
            assert_eq!(location.text.get(location.span), Some(expected));
        }
    }

    #[test]
    fn path_and_help_are_not_repeated() {
        let parts = |reason: Reason| {
            let diagnostic = diagnostic(&reason, None);
            (diagnostic.message, diagnostic.notes, diagnostic.help)
        };
        let planned = Reason {
            path: "tasks.a.condition".to_owned(),
            message: "task `a`, condition, on node 1: there is no key 'x' in `$.x` (did you mean `y`?)"
                .to_owned(),
            help: Some("did you mean `y`?".to_owned()),
            nodes: vec!["1".to_owned()],
            ..Reason::default()
        };
        let message = "task `a`, condition, on node 1: there is no key 'x' in `$.x`";
        assert_eq!(parts(planned.clone()), (message.to_owned(), Vec::new(), planned.help.clone()));
        let pathed = |message: &str| Reason { message: message.to_owned(), help: None, ..planned.clone() };
        let note = vec!["on node 1".to_owned()];
        assert_eq!(parts(pathed("wrong")), ("tasks.a.condition: wrong".to_owned(), note.clone(), None));
        let twice = "tasks.a.condition: wrong";
        assert_eq!(parts(pathed(twice)), (twice.to_owned(), note, None));
    }

    #[test]
    fn problems_with_a_location_exit_with_the_input_code() {
        let reason = Reason { message: "m".to_owned(), line: Some(2), column: Some(9), ..Reason::default() };
        let refusal = |status, errors| {
            ClientError::Rejected(Box::new(ErrorResponse {
                status,
                message: "Cluster not found".to_owned(),
                errors,
            }))
        };
        let located = failure(refusal(400, vec![reason.clone()]), Some(&sent()));
        assert_eq!(located.exit, Exit::Input);
        assert!(located.diagnostics[0].location.is_some());
        assert_eq!(failure(refusal(400, vec![reason]), None).exit, Exit::Failed);
        assert_eq!(in_own_terms("DeploymentGraph not found"), "graph not found");
        assert_eq!(in_own_terms("Transactional"), "transactional");
        assert_eq!(origin(None, None, Some(1)), None);
        assert_eq!(
            origin(Some("cluster"), None, Some(1)).as_deref(),
            Some("line 1 of the uploaded file, layer `cluster`")
        );
        let gone = failure(refusal(404, Vec::new()), None);
        assert_eq!((gone.exit, gone.diagnostics[0].message.as_str()), (Exit::Failed, "cluster not found"));
        assert_eq!(failure(refusal(503, Vec::new()), None).exit, Exit::Unavailable);
    }
}
