//! Converts errors of the server to diagnostics; problems of an uploaded file are shown in its source.

use stoker_client::{ClientError, ErrorResponse, Reason};
use stoker_diagnostics::{Diagnostic, ProblemOrigin, Severity, Span};
use stoker_manifest::codes;
use stoker_model::codes as rejected;

use stoker_model::ErrorChain;

use crate::exit::{Exit, Failure};
use crate::input::Text;

/// Converts a client error. `sent` is the file that was the body of the request.
pub(crate) fn failure(error: ClientError, sent: Option<&Text>) -> Failure {
    match error {
        ClientError::Rejected(refusal) => rejection(&refusal, sent),
        ClientError::Address { .. } => {
            Failure::usage(ErrorChain(&error).to_string(), "use a URL such as `http://127.0.0.1:8000`")
        }
        ClientError::Certificates { .. } | ClientError::Tls(_) => {
            Failure::input(ErrorChain(&error).to_string())
        }
        ClientError::Unreachable { .. } | ClientError::InvalidResponse { .. } => {
            let help = "check `--server`, or start a server with `stoker serve`";
            let diagnostic = Diagnostic::plain(ErrorChain(&error).to_string()).help(help);
            Failure::new(Exit::Unavailable, diagnostic)
        }
    }
}

/// Adds a hint that names the option which overrides a rejection, for commands that have it.
pub(crate) fn with_force_hint(mut failure: Failure) -> Failure {
    for diagnostic in &mut failure.diagnostics {
        if let rejected::CLUSTER_LOCKED | rejected::NOT_HOT_PLUGGABLE = &*diagnostic.code {
            diagnostic.set_help("pass `--force` to override");
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
        vec![Diagnostic::plain(in_own_terms(&refusal.message)).help_if(hint(refusal.status))]
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
    let location = sent.zip(reason.line).map(|(text, line)| (text, locate(text, line, reason.column)));
    let message = without_help(reason);
    let has_path =
        !reason.path.is_empty() && (message.starts_with(&reason.path) || message.starts_with("task `"));
    let message = match &location {
        None if !reason.path.is_empty() && !has_path => format!("{}: {message}", reason.path),
        _ => message,
    };
    let code = reason.code.clone().unwrap_or_default();
    let mut diagnostic = Diagnostic::error(code, lower_first(&message)).help_if(reason.help.clone());
    if reason.severity.as_deref() == Some("warning") {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic = if let Some((text, span)) = location {
        text.attach(diagnostic.at(span))
    } else {
        let (layer, file, line) = (reason.layer.clone(), reason.file.clone(), reason.line);
        diagnostic.provenance(Some(ProblemOrigin { layer, file, line }))
    };
    if !reason.nodes.is_empty() && !diagnostic.message.contains(", on node") {
        diagnostic = diagnostic.note(format!("on node {}", reason.nodes.join(", ")));
    }
    diagnostic
}

/// Removes the hint from the message: it is printed separately.
fn without_help(reason: &Reason) -> String {
    let help = reason.help.as_ref().map(|help| format!(" ({help})"));
    help.and_then(|help| reason.message.strip_suffix(help.as_str())).unwrap_or(&reason.message).to_owned()
}

/// Returns the span of the word at a 1-based line and column, or of the first word of the line.
fn locate(text: &Text, line: u32, column: Option<u32>) -> Span {
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
    Span::in_text(content, start..start + len.max(1))
}

/// Names of resources in compatible error messages of the server, and their names in commands.
const RESOURCE_NAMES: &[(&str, &str)] =
    &[("DeploymentGraph ", "graph "), ("DeploymentSequence ", "sequence "), ("Transaction ", "run ")];

/// Replaces the name of the resource at the start of a server message with the name that commands use.
fn in_own_terms(message: &str) -> String {
    let renamed = RESOURCE_NAMES.iter().find_map(|(theirs, own)| Some((own, message.strip_prefix(theirs)?)));
    renamed.map_or_else(|| lower_first(message), |(own, rest)| format!("{own}{rest}"))
}

/// Lowercases the first letter of a server message. Acronyms, names and paths such as `Network.manager: …` keep theirs.
fn lower_first(message: &str) -> String {
    let first_word = message.split_whitespace().next().unwrap_or_default();
    if first_word.ends_with(':') || first_word.trim_end_matches('.').contains(['.', '[', '_']) {
        return message.to_owned();
    }
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
            let sent = sent();
            Some(locate(&sent, line, Some(column)).slice(&sent.content).to_owned())
        };
        assert_eq!(word(1, 7).as_deref(), Some("ä"));
        assert_eq!(word(2, 9).as_deref(), Some("shel"));
        assert_eq!(word(2, 3).as_deref(), Some("type"));
        for (line, column) in [(0, 0), (3, 1), (9, 9), (2, 900)] {
            word(line, column);
        }
        for (line, expected) in [(1, "id"), (2, "type")] {
            let sent = sent();
            assert_eq!(locate(&sent, line, None).slice(&sent.content), expected);
        }
    }

    #[test]
    fn paths_keep_their_case() {
        for (message, expected) in [
            ("Node not found", "node not found"),
            ("Network.manager: VLAN is not an option", "Network.manager: VLAN is not an option"),
            ("Storage: must be a map", "Storage: must be a map"),
            ("Panes[0] is empty.", "Panes[0] is empty."),
            ("Forbidden.", "forbidden."),
            ("DNS fails", "DNS fails"),
        ] {
            assert_eq!(lower_first(message), expected);
        }
        let reason =
            Reason { path: "Compute".to_owned(), message: "must be a map".to_owned(), ..Reason::default() };
        assert_eq!(diagnostic(&reason, None).message, "Compute: must be a map");
    }

    #[test]
    fn path_and_help_are_not_repeated() {
        let parts = |reason: Reason| {
            let diagnostic = diagnostic(&reason, None);
            let notes: Vec<String> =
                diagnostic.notes.into_iter().map(|note| note.message.into_owned()).collect();
            (diagnostic.message, notes, diagnostic.help)
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
        assert!(located.diagnostics[0].location.span.is_some());
        assert_eq!(failure(refusal(400, vec![reason]), None).exit, Exit::Failed);
        assert_eq!(in_own_terms("DeploymentGraph not found"), "graph not found");
        assert_eq!(in_own_terms("Transactional"), "transactional");
        let gone = failure(refusal(404, Vec::new()), None);
        assert_eq!((gone.exit, gone.diagnostics[0].message.as_str()), (Exit::Failed, "cluster not found"));
        assert_eq!(failure(refusal(503, Vec::new()), None).exit, Exit::Unavailable);
    }
}
