//! Entries in the order they came, found by key.
//!
//! Most maps of a deployment are small: up to a handful of entries a plain scan beats hashing, and
//! nothing but the entries themselves has to be built. Larger ones get an index.

use hashbrown::HashTable;

use super::Key;

/// Up to this many entries there is no index.
const SCANNED_MAX: usize = 8;

#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Table<V> {
    entries: Vec<(Key, V)>,
    index: HashTable<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u64,
    at: u32,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { entries: Vec::new(), index: HashTable::new() }
    }
}

impl<V> Table<V> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let index =
            if capacity > SCANNED_MAX { HashTable::with_capacity(capacity) } else { HashTable::new() };
        Self { entries: Vec::with_capacity(capacity), index }
    }

    pub(crate) fn entries(&self) -> &[(Key, V)] {
        &self.entries
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The place of the entry whose key fits; the hash is asked for only when there is an index.
    #[inline]
    pub(crate) fn find(&self, hash: impl FnOnce() -> u64, fits: impl Fn(&Key) -> bool) -> Option<usize> {
        if self.entries.len() <= SCANNED_MAX {
            return self.entries.iter().position(|(key, _)| fits(key));
        }
        let hash = hash();
        let same = |slot: &Slot| slot.hash == hash && fits(&self.entries[slot.at as usize].0);
        self.index.find(hash, same).map(|slot| slot.at as usize)
    }

    pub(crate) fn find_key(&self, key: &Key) -> Option<usize> {
        self.find(|| key.hash(), |known| known == key)
    }

    /// Sets a key; one that is there already keeps its place and its spelling. Says whether the
    /// key is new.
    pub(crate) fn insert(&mut self, key: Key, value: V) -> bool {
        if let Some(at) = self.find_key(&key) {
            self.entries[at].1 = value;
            return false;
        }
        self.push(key, value);
        true
    }

    /// Adds a key that is known not to be there.
    pub(crate) fn push(&mut self, key: Key, value: V) {
        self.entries.push((key, value));
        match self.entries.len() {
            len if len <= SCANNED_MAX => {}
            len if len == SCANNED_MAX + 1 => self.reindex(),
            len => self.index_entry(len - 1),
        }
    }

    /// What a key stands for, made when the key is new.
    pub(crate) fn get_or_insert_with(&mut self, key: Key, make: impl FnOnce() -> V) -> &mut V {
        let at = if let Some(at) = self.find_key(&key) {
            at
        } else {
            self.push(key, make());
            self.entries.len() - 1
        };
        &mut self.entries[at].1
    }

    pub(crate) fn into_entries(self) -> Vec<(Key, V)> {
        self.entries
    }

    /// Keeps the entries at the places that fit.
    pub(crate) fn retain(&mut self, mut fits: impl FnMut(usize) -> bool) {
        let mut place = 0;
        self.entries.retain(|_| {
            place += 1;
            fits(place - 1)
        });
        self.reindex();
    }

    fn reindex(&mut self) {
        self.index.clear();
        if self.entries.len() > SCANNED_MAX {
            for at in 0..self.entries.len() {
                self.index_entry(at);
            }
        }
    }

    fn index_entry(&mut self, at: usize) {
        let hash = self.entries[at].0.hash();
        self.index.insert_unique(hash, Slot { hash, at: at as u32 }, |slot| slot.hash);
    }
}
