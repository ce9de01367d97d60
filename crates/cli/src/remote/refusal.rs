//! A server's no as diagnostics; what is about an uploaded file is shown in it.

use stoker_client::{ClientError, Reason, Refusal};
use stoker_manifest::codes;

use super::table::plain;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::exit::{Exit, Failure};
use crate::input::Text;

/// Why there is no answer. `sent` is the file that was the body of the request.
pub(crate) fn failure(error: ClientError, sent: Option<&Text>) -> Failure {
    match error {
        ClientError::Refused(refusal) => refused(&refusal, sent),
        ClientError::Address { .. } => {
            Failure::usage(error.to_string(), "write it like `http://127.0.0.1:8000`")
        }
        ClientError::Certificates { .. } => Failure::input(error.to_string()),
        ClientError::Away { .. } | ClientError::Strange { .. } => {
            let help = "is it running, and is `--server` right? `stoker serve` starts one";
            let diagnostic = Diagnostic::error(error.to_string()).help(Some(help.to_owned()));
            Failure::new(Exit::Unavailable, diagnostic)
        }
    }
}

fn refused(refusal: &Refusal, sent: Option<&Text>) -> Failure {
    let mut reasons: Vec<&Reason> =
        refusal.errors.iter().filter(|reason| !reason.message.is_empty()).collect();
    // The sum of what is told one by one says nothing more.
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
        vec![Diagnostic::error(lower_first(&refusal.message)).help(advice(refusal.status))]
    } else {
        reasons.iter().map(|reason| diagnostic(reason, sent)).collect()
    };
    Failure { exit, diagnostics }
}

fn advice(status: u16) -> Option<String> {
    let advice = match status {
        401 => "log in with `stoker login`, or give a token with `--token`",
        403 => "`stoker whoami` tells which roles you have",
        429 => "wait a minute and try again",
        _ => return None,
    };
    Some(advice.to_owned())
}

pub(crate) fn diagnostic(reason: &Reason, sent: Option<&Text>) -> Diagnostic {
    let place = sent.zip(reason.line).map(|(text, line)| place(text, line, reason.column.unwrap_or(1)));
    let said = without_help(reason);
    let tells_where =
        !reason.path.is_empty() && (said.starts_with(&reason.path) || said.starts_with("task `"));
    let message = match &place {
        None if !reason.path.is_empty() && !tells_where => format!("{}: {said}", reason.path),
        _ => said,
    };
    let mut diagnostic = Diagnostic::error(lower_first(&message)).help(reason.help.clone());
    if reason.severity.as_deref() == Some("warning") {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic.code.clone_from(&reason.code);
    if place.is_none() {
        diagnostic.notes.extend(origin(reason.layer.as_deref(), reason.file.as_deref(), reason.line));
    }
    if let Some(place) = place {
        diagnostic = diagnostic.at(place);
    }
    if !reason.nodes.is_empty() && !diagnostic.message.contains(", on node") {
        diagnostic.notes.push(format!("on node {}", reason.nodes.join(", ")));
    }
    diagnostic
}

/// Who wrote something, and where, as far as it is known.
pub(crate) fn origin(layer: Option<&str>, file: Option<&str>, line: Option<u32>) -> Option<String> {
    let place = match (file, line) {
        (Some(file), Some(line)) => Some(format!("{}:{line}", plain(file))),
        (Some(file), None) => Some(plain(file)),
        (None, Some(line)) => Some(format!("line {line} of what was uploaded")),
        (None, None) => None,
    };
    let layer = layer.map(|layer| format!("in the layer `{}`", plain(layer)));
    let parts: Vec<String> = place.into_iter().chain(layer).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The message without the help, which stands beside it.
fn without_help(reason: &Reason) -> String {
    let help = reason.help.as_ref().map(|help| format!(" ({help})"));
    help.and_then(|help| reason.message.strip_suffix(help.as_str())).unwrap_or(&reason.message).to_owned()
}

/// The word at a line and a column, both from 1.
fn place(text: &Text, line: u32, column: u32) -> Place {
    let content: &str = &text.content;
    let line_start = match line {
        0 | 1 => 0,
        _ => content.match_indices('\n').nth(line as usize - 2).map_or(content.len(), |(at, _)| at + 1),
    };
    let rest = &content[line_start..];
    let column_bytes =
        rest.chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum::<usize>();
    let start = line_start + column_bytes;
    let is_end = |letter: char| letter.is_whitespace() || ",}]'\"".contains(letter);
    let len = content[start..].find(is_end).unwrap_or(content.len() - start);
    // The colon after a key is not of it.
    let len = len - usize::from(content[start..start + len].ends_with(':'));
    Place::new(&text.origin, text.content.clone(), start..start + len.max(1))
}

/// Messages of the server are sentences where its other clients show them as such. Names keep their letters.
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
    fn lines_and_columns_are_words_of_the_file() {
        let word = |line, column| {
            let place = place(&sent(), line, column);
            place.text.get(place.span).map(str::to_owned)
        };
        assert_eq!(word(1, 7).as_deref(), Some("ä"));
        assert_eq!(word(2, 9).as_deref(), Some("shel"));
        assert_eq!(word(2, 3).as_deref(), Some("type"));
        for (line, column) in [(0, 0), (3, 1), (9, 9), (2, 900)] {
            word(line, column);
        }
    }

    #[test]
    fn nothing_is_told_twice() {
        let told = |reason: Reason| {
            let told = diagnostic(&reason, None);
            (told.message, told.notes, told.help)
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
        assert_eq!(told(planned.clone()), (message.to_owned(), Vec::new(), planned.help.clone()));
        let pathed = |message: &str| Reason { message: message.to_owned(), help: None, ..planned.clone() };
        let note = vec!["on node 1".to_owned()];
        assert_eq!(told(pathed("wrong")), ("tasks.a.condition: wrong".to_owned(), note.clone(), None));
        let twice = "tasks.a.condition: wrong";
        assert_eq!(told(pathed(twice)), (twice.to_owned(), note, None));
    }

    #[test]
    fn what_is_about_a_file_is_wrong_input_and_the_rest_is_a_refusal() {
        let reason = Reason { message: "m".to_owned(), line: Some(2), column: Some(9), ..Reason::default() };
        let refusal = |status, errors| {
            ClientError::Refused(Box::new(Refusal {
                status,
                message: "Cluster not found".to_owned(),
                errors,
            }))
        };
        let located = failure(refusal(400, vec![reason.clone()]), Some(&sent()));
        assert_eq!(located.exit, Exit::Input);
        assert!(located.diagnostics[0].place.is_some());
        assert_eq!(failure(refusal(400, vec![reason]), None).exit, Exit::Failed);
        let gone = failure(refusal(404, Vec::new()), None);
        assert_eq!((gone.exit, gone.diagnostics[0].message.as_str()), (Exit::Failed, "cluster not found"));
        assert_eq!(failure(refusal(503, Vec::new()), None).exit, Exit::Unavailable);
    }
}
