//! Credentials file of `stoker login`, readable by its owner only.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use crate::environment;
use crate::exit::{Failure, Outcome};

const FILE: &str = "credentials.json";

/// Logins by server URL, and the server of the most recent login.
pub(crate) struct Credentials {
    path: Option<PathBuf>,
    current: Option<String>,
    servers: Map<String, Json>,
}

/// A stored login.
pub(crate) struct StoredLogin {
    pub(crate) user: String,
    pub(crate) token: String,
    pub(crate) expires: String,
    pub(crate) ca_file: Option<PathBuf>,
}

impl Credentials {
    /// Reads the file; a missing file has no logins. Refuses a file that other users can access, because its tokens
    /// may be compromised.
    pub(crate) fn read() -> Outcome<Self> {
        let path = environment::config_folder().map(|folder| folder.join(FILE));
        let document = path.as_deref().map_or(Ok(Json::Null), read_private)?;
        Ok(Self {
            path,
            current: document.get("current").and_then(Json::as_str).map(str::to_owned),
            servers: document.get("servers").and_then(Json::as_object).cloned().unwrap_or_default(),
        })
    }

    pub(crate) fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// Returns the path of the file; `None` without a home directory.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn of(&self, server: &str) -> Option<StoredLogin> {
        let login = self.servers.get(server)?;
        let field = |name: &str| login[name].as_str().map(str::to_owned);
        Some(StoredLogin {
            user: field("user")?,
            token: field("token")?,
            expires: field("expires").unwrap_or_default(),
            ca_file: field("ca_file").map(PathBuf::from),
        })
    }

    /// Stores a login and makes its server the default.
    pub(crate) fn set(&mut self, server: &str, login: &StoredLogin) {
        let entry = json!({
            "user": login.user,
            "token": login.token,
            "expires": login.expires,
            "ca_file": login.ca_file.as_ref().map(|path| path.display().to_string()),
        });
        self.servers.insert(server.to_owned(), entry);
        self.current = Some(server.to_owned());
    }

    /// Deletes a login; returns whether it existed.
    pub(crate) fn remove(&mut self, server: &str) -> bool {
        if self.current.as_deref() == Some(server) {
            self.current = None;
        }
        self.servers.shift_remove(server).is_some()
    }

    /// Replaces the file atomically.
    pub(crate) fn write(&self) -> Outcome<&Path> {
        let path = self.path.as_deref();
        let path = path.ok_or_else(|| Failure::input("cannot store the login: no home directory"))?;
        let document = json!({"current": self.current, "servers": self.servers});
        let text = format!("{document:#}\n");
        let result = write_private(path, &text);
        result.map_err(|error| Failure::unwritable(path, &error))?;
        Ok(path)
    }
}

fn read_private(path: &Path) -> Outcome<Json> {
    let read_error =
        |reason: &dyn Display| Failure::input(format!("cannot use `{}`: {reason}", path.display()));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Json::Null),
        Err(error) => return Err(read_error(&error)),
    };
    let mode = fs::metadata(path).map_err(|error| read_error(&error))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(read_error(
            &"other users can read it; run `chmod 600` on it, or delete it and log in again",
        ));
    }
    serde_json::from_str(&text)
        .map_err(|error| read_error(&format_args!("{error}; delete it and log in again")))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let temporary = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}
