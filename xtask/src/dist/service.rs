//! Starts what a unit starts, without systemd, under another root.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::failure::{Context as _, Failure, Outcome};

const PATIENCE: Duration = Duration::from_mins(1);

/// A running service; ended when dropped.
pub(super) struct Service {
    child: Child,
    log: Receiver<String>,
}

impl Service {
    /// `variables` stand for those of the unit's environment file.
    pub(super) fn start(root: &Path, unit: &str, variables: &[(&str, &str)]) -> Outcome<Self> {
        let path = root.join("usr/lib/systemd/system").join(unit);
        let text = fs::read_to_string(&path).context(format!("cannot read `{}`", path.display()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("ExecStart="));
        let line = line.ok_or_else(|| Failure::new(format!("`{unit}` starts nothing")))?;
        let words = words(line, root, variables);
        let (program, arguments) =
            words.split_first().ok_or_else(|| Failure::new(format!("`{unit}` starts nothing")))?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context(format!("cannot start `{program}`"))?;
        let (sender, log) = channel();
        if let Some(stderr) = child.stderr.take() {
            // Ends with the service.
            thread::spawn(move || {
                BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        Ok(Self { child, log })
    }

    /// What follows `announcement` in the first line that has it.
    pub(super) fn said(&self, announcement: &str) -> Outcome<String> {
        let mut heard = String::new();
        while let Ok(line) = self.log.recv_timeout(PATIENCE) {
            if let Some((_, rest)) = line.split_once(announcement) {
                return Ok(rest.split_whitespace().next().unwrap_or_default().to_owned());
            }
            heard = heard + &line + "\n";
        }
        Err(Failure::new(format!("the service never said `{announcement}`\n{}", heard.trim_end())))
    }

    /// What it has said and nobody has asked for.
    pub(super) fn heard(&self) -> String {
        self.log.try_iter().collect::<Vec<_>>().join("\n")
    }

    /// Ends it as a service manager does.
    pub(super) fn stop(mut self) -> Outcome {
        let id = self.child.id().to_string();
        crate::process::run(Command::new("kill").args(["-TERM", &id]))?;
        let status = self.child.wait().context("cannot wait for a service")?;
        if status.success() { Ok(()) } else { Err(Failure::new(format!("a service ended with {status}"))) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The words of a command line of a unit: variables as systemd puts them in, absolute paths under the root.
fn words(line: &str, root: &Path, variables: &[(&str, &str)]) -> Vec<String> {
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        let is_named = |name: &str| word == format!("${name}") || word == format!("${{{name}}}");
        let value = variables.iter().find(|(name, _)| is_named(name)).map(|(_, value)| *value);
        match value {
            Some(value) => words.extend(value.split_whitespace().map(str::to_owned)),
            None if word.starts_with('$') => {}
            None if word.starts_with('/') => words.push(format!("{}{word}", root.display())),
            None => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_systemd_would_make() {
        let line = "/usr/bin/x serve --data-dir /var/lib/x --to ${TO} $OPTIONS $UNSET";
        let found = words(line, Path::new("/r"), &[("OPTIONS", "--a 1"), ("TO", "b")]);
        assert_eq!(found.join(" "), "/r/usr/bin/x serve --data-dir /r/var/lib/x --to b --a 1");
    }
}
