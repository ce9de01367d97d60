//! Insertion-ordered hash table.
//!
//! Most maps in deployment data are small. Up to a few entries a linear scan is faster than hashing and needs
//! no index; larger tables get an index.

use hashbrown::HashTable;

use super::Key;

/// Maximum number of entries without an index.
const SCAN_MAX: usize = 8;

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
        let index = if capacity > SCAN_MAX { HashTable::with_capacity(capacity) } else { HashTable::new() };
        Self { entries: Vec::with_capacity(capacity), index }
    }

    pub(crate) fn entries(&self) -> &[(Key, V)] {
        &self.entries
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the index of the entry whose key matches. `hash` is called only if there is an index.
    #[inline]
    pub(crate) fn find(&self, hash: impl FnOnce() -> u64, fits: impl Fn(&Key) -> bool) -> Option<usize> {
        if self.entries.len() <= SCAN_MAX {
            return self.entries.iter().position(|(key, _)| fits(key));
        }
        let hash = hash();
        let same = |slot: &Slot| slot.hash == hash && fits(&self.entries[slot.at as usize].0);
        self.index.find(hash, same).map(|slot| slot.at as usize)
    }

    pub(crate) fn find_key(&self, key: &Key) -> Option<usize> {
        self.find(|| key.hash(), |candidate| candidate == key)
    }

    /// Sets a key and reports whether it is new. An existing key keeps its position and representation.
    pub(crate) fn insert(&mut self, key: Key, value: V) -> bool {
        if let Some(at) = self.find_key(&key) {
            self.entries[at].1 = value;
            return false;
        }
        self.push(key, value);
        true
    }

    /// Appends a key that must not exist yet.
    pub(crate) fn push(&mut self, key: Key, value: V) {
        self.entries.push((key, value));
        match self.entries.len() {
            len if len <= SCAN_MAX => {}
            len if len == SCAN_MAX + 1 => self.reindex(),
            len => self.index_entry(len - 1),
        }
    }

    /// Returns the value of a key, inserting the result of `make` if the key is new.
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

    /// Retains the entries whose index satisfies the predicate.
    pub(crate) fn retain(&mut self, mut fits: impl FnMut(usize) -> bool) {
        let mut index = 0;
        self.entries.retain(|_| {
            index += 1;
            fits(index - 1)
        });
        self.reindex();
    }

    fn reindex(&mut self) {
        self.index.clear();
        if self.entries.len() > SCAN_MAX {
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
