//! Authenticates peer messages on the bus with HMAC-SHA256, so that other clients of the bus cannot start
//! tasks on nodes.
//!
//! The secret is stored in the shared database, access to which already gives full control.

use ring::hmac;
use stoker_model::Micros;
use stoker_services::{ServiceResult, random};
use stoker_store::Store;

/// Name under which the secret is stored among the values shared by all servers.
const MARK: &str = "letter_key";
const SECRET_CHARS: usize = 64;
/// Length of the HMAC tag that precedes each message.
pub(super) const TAG_BYTES: usize = 32;

pub(crate) struct Seal(hmac::Key);

impl Seal {
    /// Loads the shared secret; the first server generates it.
    pub(crate) async fn agree(store: &Store, now: Micros) -> ServiceResult<Self> {
        let secret = random::hex_text(SECRET_CHARS)?;
        Ok(Self::new(&store.shared_value_agree(MARK, &secret, now).await?))
    }

    fn new(secret: &str) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }

    /// Prepends the HMAC tag. The recipient is signed too, so that the message cannot be replayed to another
    /// server.
    pub(super) fn close(&self, to: &str, letter: &str) -> Vec<u8> {
        let tag = hmac::sign(&self.0, &signed(to, letter.as_bytes()));
        [tag.as_ref(), letter.as_bytes()].concat()
    }

    /// Verifies a message for recipient `to`; `None` if the tag is invalid.
    pub(crate) fn open<'l>(&self, to: &str, sealed: &'l [u8]) -> Option<&'l [u8]> {
        let (tag, letter) = sealed.split_at_checked(TAG_BYTES)?;
        hmac::verify(&self.0, &signed(to, letter), tag).ok()?;
        Some(letter)
    }
}

/// Returns the bytes to sign. The NUL byte delimits the recipient, so that bytes cannot shift between the
/// recipient and the message.
fn signed(to: &str, letter: &[u8]) -> Vec<u8> {
    [to.as_bytes(), b"\0", letter].concat()
}

#[cfg(test)]
mod tests {
    use stoker_store::Database;
    use stoker_testkit::TempFolder;

    use super::*;

    #[test]
    fn only_messages_with_a_valid_tag_are_accepted() {
        let seal = Seal::new("s");
        let sealed = seal.close("one", "{}");
        assert_eq!(seal.open("one", &sealed), Some(&b"{}"[..]));
        assert_eq!(seal.open("two", &sealed), None, "it was for another");
        assert_eq!(Seal::new("t").open("one", &sealed), None);
        assert_eq!(seal.open("one", b"{}"), None, "the message is not signed");
        for at in 0..sealed.len() {
            let mut spoiled = sealed.clone();
            spoiled[at] ^= 1;
            assert_eq!(seal.open("one", &spoiled), None, "byte {at}");
        }
    }

    #[tokio::test]
    async fn all_servers_share_one_secret() {
        let folder = TempFolder::new();
        let store = Store::open(&Database::Sqlite { path: folder.file("db") }).await.unwrap();
        let (one, two) =
            (Seal::agree(&store, Micros(1)).await.unwrap(), Seal::agree(&store, Micros(2)).await.unwrap());
        assert_eq!(two.open("x", &one.close("x", "hello")), Some(&b"hello"[..]));
        store.close().await;
    }
}
