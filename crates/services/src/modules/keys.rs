//! The keys that contents of modules are sealed with. They are the operator's: a file beside the database, not in it.
//!
//! Each line is the name of a key and the key. The first one seals; all of them open. The file is read each time: it
//! is small, and whoever changes it need not start anything anew.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use stoker_model::Sealed;

const KEY_BYTES: usize = 32;
const NAME_BYTES: usize = 4;
/// Says what was sealed, so that nothing else is taken for it.
const PURPOSE: &[u8] = b"stoker module contents 1";

/// Where the keys are.
#[derive(Clone, Debug)]
pub struct ModuleKeys {
    path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot read the keys of modules in {path}: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("cannot write the keys of modules to {path}: {source}")]
    Unwritable { path: String, source: io::Error },
    #[error("{path}:{line}: expected the name of a key and 32 bytes in Base64")]
    Malformed { path: String, line: usize },
    #[error("{path} has no key in it")]
    Empty { path: String },
    #[error(
        "contents of modules are sealed, and their keys are not at {path}; put the file there, or say where it is"
    )]
    Missing { path: String },
    #[error(
        "the keys of modules in {path} are not those of the other servers of this database; put the same file on every machine"
    )]
    Foreign { path: String },
    #[error("contents are sealed with key `{name}`, which is not in {path}")]
    Unknown { name: String, path: String },
    #[error("sealed contents were damaged, or the key is another than its name says")]
    Damaged,
    #[error("the system gives no random numbers")]
    NoRandom,
}

/// A key as the file has it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    bytes: [u8; KEY_BYTES],
}

impl ModuleKeys {
    /// The keys at that place. The first start makes one; where something is sealed already, they have to be there.
    pub fn open(path: &Path, is_something_sealed: bool) -> Result<Self, KeyError> {
        let keys = Self { path: path.to_owned() };
        if path.exists() {
            keys.read()?;
            keys.warn_if_open_to_others();
        } else if is_something_sealed {
            return Err(KeyError::Missing { path: keys.shown() });
        } else {
            keys.create(&[Key::random()?])?;
        }
        Ok(keys)
    }

    pub fn seal(&self, text: &str) -> Result<Sealed, KeyError> {
        let keys = self.read()?;
        keys.first().ok_or_else(|| KeyError::Empty { path: self.shown() })?.seal(text)
    }

    pub fn unseal(&self, sealed: &Sealed) -> Result<String, KeyError> {
        let keys = self.read()?;
        self.find(&keys, &sealed.key)?.unseal(sealed)
    }

    pub(super) fn find<'k>(&self, keys: &'k [Key], name: &str) -> Result<&'k Key, KeyError> {
        let found = keys.iter().find(|key| key.name == name);
        found.ok_or_else(|| KeyError::Unknown { name: name.to_owned(), path: self.shown() })
    }

    pub(super) fn read(&self) -> Result<Vec<Key>, KeyError> {
        let text = fs::read_to_string(&self.path)
            .map_err(|source| KeyError::Unreadable { path: self.shown(), source })?;
        let mut keys = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let malformed = || KeyError::Malformed { path: self.shown(), line: number };
            let (name, bytes) = line.split_once(' ').ok_or_else(malformed)?;
            let bytes = STANDARD.decode(bytes.trim()).ok().and_then(|bytes| bytes.try_into().ok());
            keys.push(Key { name: name.to_owned(), bytes: bytes.ok_or_else(malformed)? });
        }
        if keys.is_empty() { Err(KeyError::Empty { path: self.shown() }) } else { Ok(keys) }
    }

    /// Puts these keys in the place of those that are there, all or nothing.
    pub(super) fn replace(&self, keys: &[Key]) -> Result<(), KeyError> {
        let beside = self.path.with_extension("new");
        let unwritable = |source| KeyError::Unwritable { path: self.shown(), source };
        // Left behind by somebody who was interrupted.
        _ = fs::remove_file(&beside);
        write(&beside, keys).map_err(unwritable)?;
        fs::rename(&beside, &self.path).map_err(unwritable)
    }

    fn create(&self, keys: &[Key]) -> Result<(), KeyError> {
        let unwritable = |source| KeyError::Unwritable { path: self.shown(), source };
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unwritable)?;
        }
        // Written aside and then put in its place, unless another server was faster: then its keys are the keys.
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
            tracing::warn!(path = %self.path.display(), "others can read the keys of modules; set its mode to 0600");
        }
    }

    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

fn write(path: &Path, keys: &[Key]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(
        file,
        "# Keys of the contents of modules. The first one seals, all of them open. Keep a copy apart from the database."
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

    pub(super) fn seal(&self, text: &str) -> Result<Sealed, KeyError> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| KeyError::NoRandom)?;
        let mut bytes = text.as_bytes().to_vec();
        self.cipher()?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(PURPOSE), &mut bytes)
            .map_err(|_| KeyError::Damaged)?;
        bytes.splice(..0, nonce);
        Ok(Sealed { key: self.name.clone(), bytes })
    }

    pub(super) fn unseal(&self, sealed: &Sealed) -> Result<String, KeyError> {
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
    use stoker_testkit::Folder;

    use super::*;

    #[test]
    fn the_first_start_makes_a_key_for_the_operator_alone() {
        let folder = Folder::new();
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
    fn without_its_keys_nothing_is_made_up() {
        let folder = Folder::new();
        let gone = ModuleKeys::open(&folder.file("gone"), true);
        assert!(matches!(gone, Err(KeyError::Missing { .. })));
        let path = folder.file("modules.key");
        for broken in ["", "# nothing\n", "name\n", "name AAAA\n", "name ????\n"] {
            fs::write(&path, broken).unwrap();
            assert!(ModuleKeys::open(&path, false).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn damage_and_strange_keys_are_noticed() {
        let folder = Folder::new();
        let keys = ModuleKeys::open(&folder.file("a.key"), false).unwrap();
        let sealed = keys.seal("secret").unwrap();
        for index in 0..sealed.bytes.len() {
            let mut damaged = sealed.clone();
            damaged.bytes[index] ^= 1;
            assert!(matches!(keys.unseal(&damaged), Err(KeyError::Damaged)));
        }
        let short = Sealed { bytes: vec![1, 2], ..sealed.clone() };
        assert!(matches!(keys.unseal(&short), Err(KeyError::Damaged)));
        let strange = Sealed { key: "other".to_owned(), ..sealed };
        assert!(matches!(keys.unseal(&strange), Err(KeyError::Unknown { .. })));
    }

    #[test]
    fn the_first_key_seals_and_all_open() {
        let folder = Folder::new();
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
