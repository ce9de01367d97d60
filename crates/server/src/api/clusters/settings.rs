//! The settings a cluster starts with: a copy of what its release says, with everything filled in that a release
//! leaves open. Passwords and keys are made up here, once.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use stoker_model::{Cluster, Json, JsonMap, Micros, NewRelease};
use stoker_services::random;

use crate::http::error::ApiResult;
use crate::state::App;

const PASSWORD_CHARS: usize = 24;
const HEX_CHARS: usize = 8;
/// A release cannot make us write a book.
const CHARS_MAX: usize = 1024;
/// What the key of Ceph begins with: its kind, the time, and the length of the secret.
const CEPHX_KIND: i16 = 1;

/// Fills in the settings of one cluster.
pub(in crate::api) struct Defaults<'a> {
    release: &'a NewRelease,
    /// What the placeholders of texts stand for: `{cluster.id}`.
    placeholders: [(&'static str, String); 4],
    address: String,
    now: Micros,
}

impl<'a> Defaults<'a> {
    pub(in crate::api) fn new(app: &App, cluster: &Cluster, release: &'a NewRelease, now: Micros) -> Self {
        let address = app.settings.listen.ip();
        let address = if address.is_unspecified() { "127.0.0.1".to_owned() } else { address.to_string() };
        let environment =
            release.version.rsplit_once('-').map_or(release.version.as_str(), |halves| halves.1);
        let placeholders = [
            ("{cluster.id}", cluster.id.to_string()),
            ("{cluster.release.version}", release.version.clone()),
            ("{cluster.release.environment_version}", environment.to_owned()),
            ("{settings.MASTER_IP}", address.clone()),
        ];
        Self { release, placeholders, address, now }
    }

    /// Settings that an operator may change. Where `kept` has a generated value already, that one stays: a key that
    /// changes would lock everybody out who has the old one.
    pub(in crate::api) fn editable(&self, kept: Option<&JsonMap>) -> ApiResult<JsonMap> {
        self.part("editable", kept)
    }

    pub(super) fn generated(&self) -> ApiResult<JsonMap> {
        self.part("generated", None)
    }

    fn part(&self, name: &str, kept: Option<&JsonMap>) -> ApiResult<JsonMap> {
        match self.release.attributes_metadata.get(name) {
            Some(Json::Object(map)) => self.map(map, kept),
            _ => Ok(JsonMap::new()),
        }
    }

    fn map(&self, map: &JsonMap, kept: Option<&JsonMap>) -> ApiResult<JsonMap> {
        let is_list = map.get("type").is_some_and(|kind| kind == "text_list");
        let mut filled = JsonMap::with_capacity(map.len());
        for (key, value) in map {
            let kept = kept.and_then(|kept| kept.get(key));
            let value = self.fill(value, kept)?;
            // A setting of the predecessor's server is empty here, and empty in its own way where a list is meant.
            let is_empty_list = is_list && key == "value" && value == "";
            filled.insert(key.clone(), if is_empty_list { Json::Array(Vec::new()) } else { value });
        }
        Ok(filled)
    }

    fn fill(&self, value: &Json, kept: Option<&Json>) -> ApiResult<Json> {
        match value {
            Json::Object(map) => match map.get("generator").and_then(Json::as_str) {
                Some(generator) => match kept.filter(|kept| !kept.is_object()) {
                    Some(kept) => Ok(kept.clone()),
                    None => self.generate(generator, map.get("generator_arg"), value),
                },
                None => Ok(Json::Object(self.map(map, kept.and_then(Json::as_object))?)),
            },
            Json::Array(items) => {
                let filled: ApiResult<Vec<Json>> = items.iter().map(|item| self.fill(item, None)).collect();
                filled.map(Json::Array)
            }
            Json::String(text) => Ok(Json::String(self.text(text))),
            other => Ok(other.clone()),
        }
    }

    fn generate(&self, generator: &str, argument: Option<&Json>, whole: &Json) -> ApiResult<Json> {
        Ok(match generator {
            "password" => Json::String(random::password(length(argument, PASSWORD_CHARS))?),
            "hexstring" => Json::String(random::hex_text(length(argument, HEX_CHARS))?),
            "uuid4" => Json::String(random::uuid()?),
            "cephx_key" => Json::String(self.cephx_key()?),
            "identical" => Json::String(argument.map(plain_text).unwrap_or_default()),
            "ip" => Json::String(self.address.clone()),
            "from_settings" => Json::String(String::new()),
            // Not ours to interpret: it stays as it is, for whoever knows it.
            _ => whole.clone(),
        })
    }

    fn cephx_key(&self) -> ApiResult<String> {
        let secret = random::bytes::<16>()?;
        let seconds = i32::try_from(self.now.0 / Micros::SECOND).unwrap_or(i32::MAX);
        let mut key = Vec::with_capacity(28);
        key.extend(CEPHX_KIND.to_le_bytes());
        key.extend(seconds.to_le_bytes());
        key.extend(0i32.to_le_bytes());
        key.extend((secret.len() as i16).to_le_bytes());
        key.extend(secret);
        Ok(STANDARD.encode(key))
    }

    fn text(&self, text: &str) -> String {
        if !text.contains('{') {
            return text.to_owned();
        }
        self.placeholders.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// `'64'` or `64`.
fn length(argument: Option<&Json>, default: usize) -> usize {
    let given = argument.and_then(|value| plain_text(value).parse::<usize>().ok());
    given.unwrap_or(default).clamp(1, CHARS_MAX)
}

fn plain_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
