//! A package is installed, started, removed and purged, in a root of its own: the system is left alone.

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
/// What dpkg knows; everything else in the root came with the package or from what it started.
const DATABASE: &str = "var/lib/dpkg";
const MEMBERSHIP: &str = "var/lib/stoker-agent/membership.json";
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
const LOOK: Duration = Duration::from_millis(50);
const LOOKS_MAX: usize = 1200;

pub(super) fn prove(package: &Path, contents: &Contents, root: &Path) -> Outcome {
    empty(root)?;
    let database = root.join(DATABASE);
    for name in ["info", "updates", "triggers"] {
        let folder = database.join(name);
        fs::create_dir_all(&folder).context(format!("cannot make `{}`", folder.display()))?;
    }
    fs::write(database.join("status"), "").context("cannot write the status of no package")?;

    dpkg(root, "--install", package)?;
    let expected: BTreeMap<String, u32> =
        contents.files.iter().map(|file| (file.in_system.clone(), file.mode)).collect();
    compare("installed", &expected, &files(root)?)?;
    live(root)?;
    dpkg(root, "--remove", Path::new("stoker"))?;
    let left = files(root)?;
    if !left.contains_key("etc/stoker/server.env")
        || !left.keys().any(|path| path.starts_with("var/lib/stoker/"))
    {
        return Err(Failure::new("removing the package took settings or data with it"));
    }
    dpkg(root, "--purge", Path::new("stoker"))?;
    compare("purged", &BTreeMap::new(), &files(root)?)?;
    print_line(&format!("installed, started, removed and purged in {}", root.display()));
    Ok(())
}

/// The server answers, an agent joins, both end when they are told to.
fn live(root: &Path) -> Outcome {
    let options = [("STOKER_OPTIONS", "--listen 127.0.0.1:0"), ("STOKER_ADMIN_PASSWORD", PASSWORD)];
    let server = Service::start(root, "stoker.service", &options)?;
    let url = server.said("listens on ")?;
    let token = join_token(&url)?;
    let joining = [("STOKER_SERVER", url.as_str()), ("STOKER_JOIN_TOKEN", token.as_str())];
    let agent = Service::start(root, "stoker-agent.service", &joining)?;
    let membership = root.join(MEMBERSHIP);
    let has_joined = (0..LOOKS_MAX).any(|_| {
        thread::sleep(LOOK);
        membership.exists()
    });
    if !has_joined {
        return Err(Failure::new(format!("the agent did not join\n{}", agent.heard())));
    }
    let mode = mode_of(&membership)?;
    if mode != 0o600 {
        return Err(Failure::new(format!("the credential of the agent has the mode {mode:o}")));
    }
    agent.stop()?;
    server.stop()
}

/// A token for the agent of this machine, which is found before: it may have no MAC address to be known by.
fn join_token(url: &str) -> Outcome<String> {
    let login = json!({"auth": {"passwordCredentials": {"username": "admin", "password": PASSWORD}}});
    let answer = post(&format!("{url}/keystone/v2.0/tokens"), "", &login)?;
    let token = answer.pointer("/access/token/id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = fs::read_to_string(HOST_NAME).context(format!("cannot read `{HOST_NAME}`"))?;
    let node = json!({"mac": "52:54:00:00:00:01", "status": "discover", "name": name.trim()});
    post(&format!("{url}/api/v1/nodes"), &token, &node)?;
    let answer = post(&format!("{url}/api/v1/join_tokens"), &token, &json!({}))?;
    let token = answer["token"].as_str().map(str::to_owned);
    token.ok_or_else(|| Failure::new("the server gave no join token"))
}

fn post(url: &str, token: &str, body: &Value) -> Outcome<Value> {
    let request = ureq::post(url).header("x-auth-token", token).header("content-type", "application/json");
    let mut response = request.send(body.to_string()).context(format!("POST {url}"))?;
    let text = response.body_mut().read_to_string().context(format!("POST {url}"))?;
    serde_json::from_str(&text).context(format!("POST {url}"))
}

/// As root, or as somebody who is root in a world of their own.
fn dpkg(root: &Path, verb: &str, what: &Path) -> Outcome {
    let is_root = capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut command = Command::new(if is_root { "dpkg" } else { "unshare" });
    if !is_root {
        command.args(["--map-root-user", "dpkg"]);
    }
    // The scripts of the package know of the other root; what it depends on is not installed there.
    run(command
        .arg(format!("--root={}", root.display()))
        .args(["--force-script-chrootless", "--force-depends", "--log=/dev/null", verb])
        .arg(what)
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Every file under a root with its mode, without what is dpkg's own.
fn files(root: &Path) -> Outcome<BTreeMap<String, u32>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).context(format!("cannot read `{}`", folder.display()))? {
            let path = entry.context("cannot read a folder")?.path();
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if name == DATABASE {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(name, mode_of(&path)?);
            }
        }
    }
    Ok(found)
}

fn mode_of(path: &Path) -> Outcome<u32> {
    let metadata = fs::symlink_metadata(path).context(format!("cannot look at `{}`", path.display()))?;
    Ok(metadata.permissions().mode() & 0o7777)
}

fn compare(when: &str, expected: &BTreeMap<String, u32>, found: &BTreeMap<String, u32>) -> Outcome {
    let mut wrong = Vec::new();
    for (path, mode) in expected {
        match found.get(path) {
            None => wrong.push(format!("`{path}` is missing")),
            Some(other) if other != mode => {
                wrong.push(format!("`{path}` has the mode {other:o}, not {mode:o}"));
            }
            Some(_) => {}
        }
    }
    wrong.extend(
        found.keys().filter(|path| !expected.contains_key(*path)).map(|path| format!("`{path}` is there")),
    );
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("when it is {when}: {}", wrong.join("; "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_more_or_otherwise_is_told() {
        let of = |entries: &[(&str, u32)]| {
            entries.iter().map(|(path, mode)| ((*path).to_owned(), *mode)).collect()
        };
        compare("tested", &of(&[("a", 0o644)]), &of(&[("a", 0o644)])).unwrap();
        let error = compare("tested", &of(&[("a", 0o600), ("b", 0o644)]), &of(&[("a", 0o644), ("c", 0o644)]));
        let told = error.unwrap_err().to_string();
        assert_eq!(told, "when it is tested: `a` has the mode 644, not 600; `b` is missing; `c` is there");
    }
}
