//! Check of `sync`.

use std::path::Path;

use stoker_model::HostDifference;

use super::spec::{apply, compare};
use crate::context::Context;
use crate::host::{Exit, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let result = cx.host.query(compare(values)).await?;
        if !result.is_success() {
            let exit = Exit { status: result.status, stderr_tail: result.stderr, ..Exit::default() };
            return Err(Failure::failed(format!(
                "cannot compare with `{}`: {}",
                values.text("src"),
                exit.describe()
            )));
        }
        let dst = values.text("dst");
        let differences: Vec<HostDifference> =
            result.stdout.lines().filter_map(|line| difference(Path::new(&dst), line)).collect();
        let change = HostChange::Run(apply(values));
        let step = Step { differences, changes: vec![change], is_action: false };
        Ok(if step.differences.is_empty() { Vec::new() } else { vec![step] })
    })
}

/// Reads a line that `rsync --itemize-changes` prints: eleven letters and a path.
fn difference(dst: &Path, line: &str) -> Option<HostDifference> {
    let (letters, path) = line.split_at_checked(11)?;
    let path = path.strip_prefix(' ')?.trim_start();
    let path = path.split_once(" -> ").map_or(path, |(link, _)| link);
    let subject = dst.join(path).display().to_string();
    let text = |text: &str| Some(text.to_owned());
    Some(if letters.starts_with("*deleting") {
        HostDifference::value(subject, "state", text("present"), None)
    } else if letters.ends_with("+++++++++") {
        HostDifference::value(subject, "state", None, text("present"))
    } else {
        HostDifference::value(subject, "content", text("different"), text("equal to the source"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemized_changes_are_read() {
        let read = |line: &str| {
            let found = difference(Path::new("/d"), line)?;
            Some((found.subject.clone(), found.attribute.clone()))
        };
        for (line, expected) in [
            ("*deleting   old/a", Some(("/d/old/a", "state"))),
            (">f+++++++++ a b", Some(("/d/a b", "state"))),
            ("cL+++++++++ l -> a", Some(("/d/l", "state"))),
            (">fc.T...... c", Some(("/d/c", "content"))),
            ("sending incremental file list", None),
            ("", None),
        ] {
            let expected = expected.map(|(subject, attribute)| (subject.to_owned(), attribute.to_owned()));
            assert_eq!(read(line), expected, "{line}");
        }
    }
}
