//! Redaction of secrets by permission.

use stoker_model::{Json, JsonMap, Permission};
use stoker_state::Secrets;

use super::caller::Authenticated;

/// Masks secrets in documents unless the caller may change them. A caller who edits settings sends back the
/// values it read, so it must receive the real values.
pub(crate) fn mask_for(login: &Authenticated, documents: &mut [JsonMap]) {
    if login.caller.has_permission(Permission::Operate) {
        return;
    }
    let secrets = Secrets::from_documents(documents.iter());
    for document in documents {
        let mut value = Json::Object(std::mem::take(document));
        secrets.mask(&mut value);
        if let Json::Object(map) = value {
            *document = map;
        }
    }
}
