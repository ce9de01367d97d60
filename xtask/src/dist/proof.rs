//! Checks the Debian package: installs, starts, removes and purges it in a private root, without touching the system.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::contents::Contents;
use super::empty;
use super::service::Service;
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{capture, run};
use crate::terminal::print_line;

const PASSWORD: &str = "opensesame";
/// The database of dpkg; all other files in the root come from the package or its services.
const DATABASE: &str = "var/lib/dpkg";
const MEMBERSHIP: &str = "var/lib/stoker-agent/membership.json";
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of polls: one minute.
const POLLS_MAX: usize = 1200;

pub(super) fn prove(package: &Path, contents: &Contents, root: &Path) -> Outcome {
    empty(root)?;
    let database = root.join(DATABASE);
    for name in ["info", "updates", "triggers"] {
        let folder = database.join(name);
        fs::create_dir_all(&folder).context(format!("cannot create `{}`", folder.display()))?;
    }
    fs::write(database.join("status"), "").context("cannot write an empty dpkg database")?;

    dpkg(root, "--install", package)?;
    let expected: BTreeMap<String, u32> =
        contents.files.iter().map(|file| (file.in_system.clone(), file.mode)).collect();
    compare("installed", &expected, &files(root)?)?;
    run_services(root)?;
    dpkg(root, "--remove", Path::new("stoker"))?;
    let remaining = files(root)?;
    if !remaining.contains_key("etc/stoker/server.env")
        || !remaining.keys().any(|path| path.starts_with("var/lib/stoker/"))
    {
        return Err(Failure::new("removing the package deleted configuration or data"));
    }
    dpkg(root, "--purge", Path::new("stoker"))?;
    compare("purged", &BTreeMap::new(), &files(root)?)?;
    print_line(&format!("installed, started, removed and purged in {}", root.display()));
    Ok(())
}

/// Starts the server and an agent, waits until the agent has joined, and stops both.
fn run_services(root: &Path) -> Outcome {
    let options = [("STOKER_OPTIONS", "--listen 127.0.0.1:0"), ("STOKER_ADMIN_PASSWORD", PASSWORD)];
    let server = Service::start(root, "stoker.service", &options)?;
    let url = server.wait_for("listens on ")?;
    let token = join_token(&url)?;
    let joining = [("STOKER_SERVER", url.as_str()), ("STOKER_JOIN_TOKEN", token.as_str())];
    let agent = Service::start(root, "stoker-agent.service", &joining)?;
    let membership = root.join(MEMBERSHIP);
    let has_joined = (0..POLLS_MAX).any(|_| {
        thread::sleep(POLL_INTERVAL);
        membership.exists()
    });
    if !has_joined {
        return Err(Failure::new(format!("the agent did not join\n{}", agent.drain_log())));
    }
    let mode = mode_of(&membership)?;
    if mode != 0o600 {
        return Err(Failure::new(format!("the credential file of the agent has mode {mode:o}, not 600")));
    }
    agent.stop()?;
    server.stop()
}

/// Creates a node for this machine and a join token. The node is created by name, because a container may have no MAC
/// address.
fn join_token(url: &str) -> Outcome<String> {
    let login = json!({"auth": {"passwordCredentials": {"username": "admin", "password": PASSWORD}}});
    let answer = post(&format!("{url}/keystone/v2.0/tokens"), "", &login)?;
    let token = answer.pointer("/access/token/id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = fs::read_to_string(HOST_NAME).context(format!("cannot read `{HOST_NAME}`"))?;
    let node = json!({"mac": "52:54:00:00:00:01", "status": "discover", "name": name.trim()});
    post(&format!("{url}/api/v1/nodes"), &token, &node)?;
    let answer = post(&format!("{url}/api/v1/join_tokens"), &token, &json!({}))?;
    let token = answer["token"].as_str().map(str::to_owned);
    token.ok_or_else(|| Failure::new("the server returned no join token"))
}

fn post(url: &str, token: &str, body: &Value) -> Outcome<Value> {
    let request = ureq::post(url).header("x-auth-token", token).header("content-type", "application/json");
    let mut response = request.send(body.to_string()).context(format!("POST {url}"))?;
    let text = response.body_mut().read_to_string().context(format!("POST {url}"))?;
    serde_json::from_str(&text).context(format!("POST {url}"))
}

/// Runs dpkg as root, or as root of a user namespace.
fn dpkg(root: &Path, verb: &str, what: &Path) -> Outcome {
    let is_root = capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut command = Command::new(if is_root { "dpkg" } else { "unshare" });
    if !is_root {
        command.args(["--map-root-user", "dpkg"]);
    }
    // Maintainer scripts handle another root through DPKG_ROOT; dependencies are not installed there.
    run(command
        .arg(format!("--root={}", root.display()))
        .args(["--force-script-chrootless", "--force-depends", "--log=/dev/null", verb])
        .arg(what)
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Returns all files below the root with their modes, without the database of dpkg.
fn files(root: &Path) -> Outcome<BTreeMap<String, u32>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).context(format!("cannot read `{}`", folder.display()))? {
            let path = entry.context("cannot read a directory")?.path();
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if name == DATABASE {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(name, mode_of(&path)?);
            }
        }
    }
    Ok(files)
}

fn mode_of(path: &Path) -> Outcome<u32> {
    let metadata =
        fs::symlink_metadata(path).context(format!("cannot read the mode of `{}`", path.display()))?;
    Ok(metadata.permissions().mode() & 0o7777)
}

fn compare(state: &str, expected: &BTreeMap<String, u32>, actual: &BTreeMap<String, u32>) -> Outcome {
    let mut differences = Vec::new();
    for (path, mode) in expected {
        match actual.get(path) {
            None => differences.push(format!("`{path}` is missing")),
            Some(other) if other != mode => {
                differences.push(format!("`{path}` has mode {other:o}, not {mode:o}"));
            }
            Some(_) => {}
        }
    }
    differences.extend(
        actual.keys().filter(|path| !expected.contains_key(*path)).map(|path| format!("unexpected `{path}`")),
    );
    if differences.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("after the package was {state}: {}", differences.join("; "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_unexpected_and_different_files_are_reported() {
        let of = |entries: &[(&str, u32)]| {
            entries.iter().map(|(path, mode)| ((*path).to_owned(), *mode)).collect()
        };
        compare("tested", &of(&[("a", 0o644)]), &of(&[("a", 0o644)])).unwrap();
        let error = compare("tested", &of(&[("a", 0o600), ("b", 0o644)]), &of(&[("a", 0o644), ("c", 0o644)]));
        let message = error.unwrap_err().to_string();
        assert_eq!(
            message,
            "after the package was tested: `a` has mode 644, not 600; `b` is missing; unexpected `c`"
        );
    }
}
