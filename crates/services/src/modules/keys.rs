//! Encryption keys of module contents and webhook secrets. They are stored in a file next to the database,
//! not in it, under the control of the operator.
//!
//! Each line is a key name and the key. The first key encrypts; all keys decrypt. The small file is read on each use,
//! so that a change needs no restart.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use stoker_model::EncryptedContents;

const KEY_BYTES: usize = 32;
const NAME_BYTES: usize = 4;
/// Associated data of AES-GCM, which binds a ciphertext to this purpose.
const PURPOSE: &[u8] = b"stoker module contents 1";

/// Location of the key file.
#[derive(Clone, Debug)]
pub struct ModuleKeys {
    path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot read the module keys in {path}: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("cannot write the module keys to {path}: {source}")]
    Unwritable { path: String, source: io::Error },
    #[error("{path}:{line}: expected a key name and 32 Base64-encoded bytes")]
    Malformed { path: String, line: usize },
    #[error("{path} contains no key")]
    Empty { path: String },
    #[error(
        "module contents are encrypted, but the key file {path} does not exist; restore it, or set its location with `--modules-key-file`"
    )]
    Missing { path: String },
    #[error(
        "the module keys in {path} differ from those of the other servers of this database; put the same file on every machine"
    )]
    Foreign { path: String },
    #[error("contents are encrypted with key `{name}`, which is not in {path}")]
    Unknown { name: String, path: String },
    #[error("cannot decrypt contents: they are corrupt, or were encrypted with another key of the same name")]
    Damaged,
    #[error("the system random source failed")]
    NoRandom,
}

/// A key of the file.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    bytes: [u8; KEY_BYTES],
}

impl ModuleKeys {
    /// Opens the key file. The first start creates it; if encrypted data exists already, a missing file is an error.
    pub fn open(path: &Path, has_encrypted_data: bool) -> Result<Self, KeyError> {
        let keys = Self { path: path.to_owned() };
        if path.exists() {
            keys.read()?;
            keys.warn_if_open_to_others();
        } else if has_encrypted_data {
            return Err(KeyError::Missing { path: keys.path_text() });
        } else {
            keys.create(&[Key::random()?])?;
        }
        Ok(keys)
    }

    pub fn seal(&self, text: &str) -> Result<EncryptedContents, KeyError> {
        let keys = self.read()?;
        keys.first().ok_or_else(|| KeyError::Empty { path: self.path_text() })?.seal(text)
    }

    pub fn unseal(&self, sealed: &EncryptedContents) -> Result<String, KeyError> {
        let keys = self.read()?;
        self.find(&keys, &sealed.key)?.unseal(sealed)
    }

    pub(super) fn find<'k>(&self, keys: &'k [Key], name: &str) -> Result<&'k Key, KeyError> {
        let key = keys.iter().find(|key| key.name == name);
        key.ok_or_else(|| KeyError::Unknown { name: name.to_owned(), path: self.path_text() })
    }

    pub(super) fn read(&self) -> Result<Vec<Key>, KeyError> {
        let text = fs::read_to_string(&self.path)
            .map_err(|source| KeyError::Unreadable { path: self.path_text(), source })?;
        let mut keys = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let malformed = || KeyError::Malformed { path: self.path_text(), line: number };
            let (name, bytes) = line.split_once(' ').ok_or_else(malformed)?;
            let bytes = STANDARD.decode(bytes.trim()).ok().and_then(|bytes| bytes.try_into().ok());
            keys.push(Key { name: name.to_owned(), bytes: bytes.ok_or_else(malformed)? });
        }
        if keys.is_empty() { Err(KeyError::Empty { path: self.path_text() }) } else { Ok(keys) }
    }

    /// Replaces the key file atomically.
    pub(super) fn replace(&self, keys: &[Key]) -> Result<(), KeyError> {
        let beside = self.path.with_extension("new");
        let unwritable = |source| KeyError::Unwritable { path: self.path_text(), source };
        // Remove a temporary file that an interrupted replacement left behind.
        _ = fs::remove_file(&beside);
        write(&beside, keys).map_err(unwritable)?;
        fs::rename(&beside, &self.path).map_err(unwritable)
    }

    fn create(&self, keys: &[Key]) -> Result<(), KeyError> {
        let unwritable = |source| KeyError::Unwritable { path: self.path_text(), source };
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unwritable)?;
        }
        // The keys are written to a temporary file, which is then linked; if another server created the file
        // first, its keys are used.
        let beside = self.path.with_extension(format!("{}.new", std::process::id()));
        write(&beside, keys).map_err(unwritable)?;
        let placed = fs::hard_link(&beside, &self.path);
        _ = fs::remove_file(&beside);
        match placed {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(unwritable(error)),
            _ => self.read().map(drop),
        }
    }

    fn warn_if_open_to_others(&self) {
        let mode = fs::metadata(&self.path).map_or(0, |metadata| metadata.permissions().mode());
        if mode & 0o077 != 0 {
            tracing::warn!(path = %self.path.display(), "module key file is readable by other users; set its mode to 0600");
        }
    }

    pub fn path_text(&self) -> String {
        self.path.display().to_string()
    }
}

fn write(path: &Path, keys: &[Key]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(
        file,
        "# Encryption keys of module contents. The first key encrypts, all keys decrypt. Back them up apart from the database."
    )?;
    for key in keys {
        writeln!(file, "{} {}", key.name, STANDARD.encode(key.bytes))?;
    }
    file.sync_all()
}

impl Key {
    pub(super) fn random() -> Result<Self, KeyError> {
        let mut name = [0; NAME_BYTES];
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut name).map_err(|_| KeyError::NoRandom)?;
        getrandom::fill(&mut bytes).map_err(|_| KeyError::NoRandom)?;
        Ok(Self { name: format!("{:08x}", u32::from_be_bytes(name)), bytes })
    }

    pub(super) fn seal(&self, text: &str) -> Result<EncryptedContents, KeyError> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| KeyError::NoRandom)?;
        let mut bytes = text.as_bytes().to_vec();
        self.cipher()?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(PURPOSE), &mut bytes)
            .map_err(|_| KeyError::Damaged)?;
        bytes.splice(..0, nonce);
        Ok(EncryptedContents { key: self.name.clone(), bytes })
    }

    pub(super) fn unseal(&self, sealed: &EncryptedContents) -> Result<String, KeyError> {
        let (nonce, rest) = sealed.bytes.split_at_checked(NONCE_LEN).ok_or(KeyError::Damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| KeyError::Damaged)?;
        let mut bytes = rest.to_vec();
        let opened = self.cipher()?.open_in_place(nonce, Aad::from(PURPOSE), &mut bytes);
        let opened = opened.map_err(|_| KeyError::Damaged)?;
        String::from_utf8(opened.to_vec()).map_err(|_| KeyError::Damaged)
    }

    fn cipher(&self) -> Result<LessSafeKey, KeyError> {
        UnboundKey::new(&AES_256_GCM, &self.bytes).map(LessSafeKey::new).map_err(|_| KeyError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use stoker_testkit::TempFolder;

    use super::*;

    #[test]
    fn first_start_creates_private_key_file() {
        let folder = TempFolder::new();
        let path = folder.file("deep/modules.key");
        let keys = ModuleKeys::open(&path, false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let sealed = keys.seal("bWVzc2FnZT1oaQo=").unwrap();
        assert!(!String::from_utf8_lossy(&sealed.bytes).contains("bWVz"));
        let again = ModuleKeys::open(&path, true).unwrap();
        assert_eq!(again.unseal(&sealed).unwrap(), "bWVzc2FnZT1oaQo=");
        assert_ne!(keys.seal("x").unwrap(), keys.seal("x").unwrap(), "equal contents do not look equal");
    }

    #[test]
    fn missing_or_malformed_key_file_is_rejected() {
        let folder = TempFolder::new();
        let gone = ModuleKeys::open(&folder.file("gone"), true);
        assert!(matches!(gone, Err(KeyError::Missing { .. })));
        let path = folder.file("modules.key");
        for broken in ["", "# nothing\n", "name\n", "name AAAA\n", "name ????\n"] {
            fs::write(&path, broken).unwrap();
            assert!(ModuleKeys::open(&path, false).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn corrupt_contents_and_unknown_keys_are_detected() {
        let folder = TempFolder::new();
        let keys = ModuleKeys::open(&folder.file("a.key"), false).unwrap();
        let sealed = keys.seal("secret").unwrap();
        for index in 0..sealed.bytes.len() {
            let mut damaged = sealed.clone();
            damaged.bytes[index] ^= 1;
            assert!(matches!(keys.unseal(&damaged), Err(KeyError::Damaged)));
        }
        let short = EncryptedContents { bytes: vec![1, 2], ..sealed.clone() };
        assert!(matches!(keys.unseal(&short), Err(KeyError::Damaged)));
        let unknown_key = EncryptedContents { key: "other".to_owned(), ..sealed };
        assert!(matches!(keys.unseal(&unknown_key), Err(KeyError::Unknown { .. })));
    }

    #[test]
    fn first_key_encrypts_and_all_decrypt() {
        let folder = TempFolder::new();
        let keys = ModuleKeys::open(&folder.file("a.key"), false).unwrap();
        let old = keys.seal("old").unwrap();
        let mut all = keys.read().unwrap();
        all.insert(0, Key::random().unwrap());
        keys.replace(&all).unwrap();
        let new = keys.seal("new").unwrap();
        assert_ne!(new.key, old.key);
        assert_eq!(keys.unseal(&old).unwrap(), "old");
        assert_eq!(keys.unseal(&new).unwrap(), "new");
    }
}
