//! What may be shown to whom.

use stoker_model::{Json, JsonMap, Permission};
use stoker_state::Secrets;

use super::caller::Authenticated;

/// Masks the secrets in documents, unless the caller may change them: who can only look has no use for a password, and who
/// changes settings sends back what was read.
pub(crate) fn mask_for(login: &Authenticated, documents: &mut [JsonMap]) {
    if login.caller.may(Permission::Operate) {
        return;
    }
    let secrets = Secrets::of(documents.iter());
    for document in documents {
        let mut value = Json::Object(std::mem::take(document));
        secrets.mask(&mut value);
        if let Json::Object(map) = value {
            *document = map;
        }
    }
}
