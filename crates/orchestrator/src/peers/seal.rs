//! Letters over the bus are of servers of this group: whoever else can use that bus must not start anything on nodes.
//!
//! What they are signed with is in the database, which whoever has it commands anyway.

use ring::hmac;
use stoker_model::Micros;
use stoker_services::{ServiceResult, random};
use stoker_store::Store;

/// The name of the secret among what all servers have in common.
const MARK: &str = "letter_key";
const SECRET_CHARS: usize = 64;
/// In front of each letter.
pub(super) const TAG_BYTES: usize = 32;

pub(crate) struct Seal(hmac::Key);

impl Seal {
    /// The one of all servers; the first of them makes it.
    pub(crate) async fn agree(store: &Store, now: Micros) -> ServiceResult<Self> {
        let made = random::hex_text(SECRET_CHARS)?;
        Ok(Self::new(&store.mark_agree(MARK, &made, now).await?))
    }

    fn new(secret: &str) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }

    /// A letter as it goes over the bus. It is for that server, and good for no other.
    pub(super) fn close(&self, to: &str, letter: &str) -> Vec<u8> {
        let tag = hmac::sign(&self.0, &signed(to, letter.as_bytes()));
        [tag.as_ref(), letter.as_bytes()].concat()
    }

    /// What was sealed for this server by one that knows the secret.
    pub(crate) fn open<'l>(&self, to: &str, sealed: &'l [u8]) -> Option<&'l [u8]> {
        let (tag, letter) = sealed.split_at_checked(TAG_BYTES)?;
        hmac::verify(&self.0, &signed(to, letter), tag).ok()?;
        Some(letter)
    }
}

/// The end of the name is marked, so that no part of a letter can pass as part of a name.
fn signed(to: &str, letter: &[u8]) -> Vec<u8> {
    [to.as_bytes(), b"\0", letter].concat()
}

#[cfg(test)]
mod tests {
    use stoker_store::Database;
    use stoker_testkit::Folder;

    use super::*;

    #[test]
    fn only_whoever_knows_the_secret_is_heard() {
        let seal = Seal::new("s");
        let sealed = seal.close("one", "{}");
        assert_eq!(seal.open("one", &sealed), Some(&b"{}"[..]));
        assert_eq!(seal.open("two", &sealed), None, "it was for another");
        assert_eq!(Seal::new("t").open("one", &sealed), None);
        assert_eq!(seal.open("one", b"{}"), None, "nobody sealed it");
        for at in 0..sealed.len() {
            let mut spoiled = sealed.clone();
            spoiled[at] ^= 1;
            assert_eq!(seal.open("one", &spoiled), None, "byte {at}");
        }
    }

    #[tokio::test]
    async fn all_servers_have_the_same() {
        let folder = Folder::new();
        let store = Store::open(&Database::Sqlite { path: folder.file("db") }).await.unwrap();
        let (one, two) =
            (Seal::agree(&store, Micros(1)).await.unwrap(), Seal::agree(&store, Micros(2)).await.unwrap());
        assert_eq!(two.open("x", &one.close("x", "hello")), Some(&b"hello"[..]));
        store.close().await;
    }
}
