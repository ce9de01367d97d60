//! What `stoker login` remembers: a file that only its owner may read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use crate::environment;
use crate::exit::{Failure, Outcome};

const FILE: &str = "credentials.json";

/// Logins by server, and the server of the last one.
pub(crate) struct Credentials {
    path: Option<PathBuf>,
    current: Option<String>,
    servers: Map<String, Json>,
}

/// One login.
pub(crate) struct Stored {
    pub(crate) user: String,
    pub(crate) token: String,
    pub(crate) expires: String,
    pub(crate) ca_file: Option<PathBuf>,
}

impl Credentials {
    /// What is remembered; nothing before the first login. A file that others may read is refused: whoever could
    /// read it may have.
    pub(crate) fn read() -> Outcome<Self> {
        let path = environment::config_folder().map(|folder| folder.join(FILE));
        let document = path.as_deref().map_or(Ok(Json::Null), read_private)?;
        Ok(Self {
            path,
            current: document["current"].as_str().map(str::to_owned),
            servers: document["servers"].as_object().cloned().unwrap_or_default(),
        })
    }

    pub(crate) fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// Where they are kept, if there is a place.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn of(&self, server: &str) -> Option<Stored> {
        let login = self.servers.get(server)?;
        let word = |name: &str| login[name].as_str().map(str::to_owned);
        Some(Stored {
            user: word("user")?,
            token: word("token")?,
            expires: word("expires").unwrap_or_default(),
            ca_file: word("ca_file").map(PathBuf::from),
        })
    }

    /// Remembers a login and makes its server the one that commands are for.
    pub(crate) fn set(&mut self, server: &str, login: &Stored) {
        let entry = json!({
            "user": login.user,
            "token": login.token,
            "expires": login.expires,
            "ca_file": login.ca_file.as_ref().map(|path| path.display().to_string()),
        });
        self.servers.insert(server.to_owned(), entry);
        self.current = Some(server.to_owned());
    }

    /// Whether there was something to forget.
    pub(crate) fn forget(&mut self, server: &str) -> bool {
        if self.current.as_deref() == Some(server) {
            self.current = None;
        }
        self.servers.shift_remove(server).is_some()
    }

    /// Writes the file anew; it is whole at every moment.
    pub(crate) fn write(&self) -> Outcome<&Path> {
        let path = self.path.as_deref();
        let path = path.ok_or_else(|| Failure::input("there is no home folder to keep the login in"))?;
        let document = json!({"current": self.current, "servers": self.servers});
        let text = format!("{document:#}\n");
        let written = write_private(path, &text);
        written.map_err(|error| Failure::unwritable(path, &error))?;
        Ok(path)
    }
}

fn read_private(path: &Path) -> Outcome<Json> {
    let cannot = |why: String| Failure::input(format!("cannot use `{}`: {why}", path.display()));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Json::Null),
        Err(error) => return Err(cannot(error.to_string())),
    };
    let mode = fs::metadata(path).map_err(|error| cannot(error.to_string()))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(cannot("others may read it; `chmod 600` it, or remove it and log in again".to_owned()));
    }
    serde_json::from_str(&text).map_err(|error| cannot(format!("{error}; remove it and log in again")))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}
