//! Initial settings of a cluster: a copy of the attributes of its release, with placeholders expanded and
//! passwords and keys generated.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use stoker_model::{Cluster, Json, JsonMap, Micros, NewRelease};
use stoker_settings::Server;

use crate::error::ServiceResult;
use crate::random;

const PASSWORD_CHARS: usize = 24;
const HEX_CHARS: usize = 8;
/// Maximum length of a generated value, in characters; bounds `generator_arg` of a release.
const CHARS_MAX: usize = 1024;
/// Key type in the header of a Ceph key: AES.
const CEPHX_KEY_TYPE: i16 = 1;

/// Computes the initial settings of one cluster.
pub struct Defaults<'a> {
    release: &'a NewRelease,
    /// Placeholders in strings, such as `{cluster.id}`, and their values.
    placeholders: [(&'static str, String); 4],
    address: String,
    now: Micros,
}

impl<'a> Defaults<'a> {
    pub fn new(settings: &Server, cluster: &Cluster, release: &'a NewRelease, now: Micros) -> Self {
        let address = settings.listen.ip();
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

    /// Returns the settings that an operator may change. Generated values in `existing` are retained: a
    /// regenerated key would lock out its users.
    pub fn editable(&self, existing: Option<&JsonMap>) -> ServiceResult<JsonMap> {
        self.group("editable", existing)
    }

    pub fn generated(&self) -> ServiceResult<JsonMap> {
        self.group("generated", None)
    }

    /// Returns settings of a plugin with generated values and expanded placeholders. Generated values in `existing` are
    /// retained.
    pub fn of_plugin(&self, attributes: &JsonMap, existing: Option<&JsonMap>) -> ServiceResult<JsonMap> {
        self.map(attributes, existing)
    }

    fn group(&self, name: &str, existing: Option<&JsonMap>) -> ServiceResult<JsonMap> {
        match self.release.attributes_metadata.get(name) {
            Some(Json::Object(map)) => self.map(map, existing),
            _ => Ok(JsonMap::new()),
        }
    }

    fn map(&self, map: &JsonMap, existing: Option<&JsonMap>) -> ServiceResult<JsonMap> {
        let is_list = map.get("type").is_some_and(|setting_type| setting_type == "text_list");
        let mut filled = JsonMap::with_capacity(map.len());
        for (key, value) in map {
            let existing = existing.and_then(|existing| existing.get(key));
            let value = self.fill(value, existing)?;
            // `from_settings` generates an empty string, which must be an empty list for a list setting.
            let is_empty_list = is_list && key == "value" && value == "";
            filled.insert(key.clone(), if is_empty_list { Json::Array(Vec::new()) } else { value });
        }
        Ok(filled)
    }

    fn fill(&self, value: &Json, existing: Option<&Json>) -> ServiceResult<Json> {
        match value {
            Json::Object(map) => match map.get("generator").and_then(Json::as_str) {
                Some(generator) => match existing.filter(|existing| !existing.is_object()) {
                    Some(existing) => Ok(existing.clone()),
                    None => self.generate(generator, map.get("generator_arg"), value),
                },
                None => Ok(Json::Object(self.map(map, existing.and_then(Json::as_object))?)),
            },
            Json::Array(items) => {
                let filled: ServiceResult<Vec<Json>> =
                    items.iter().map(|item| self.fill(item, None)).collect();
                filled.map(Json::Array)
            }
            Json::String(text) => Ok(Json::String(self.text(text))),
            other => Ok(other.clone()),
        }
    }

    fn generate(&self, generator: &str, argument: Option<&Json>, declaration: &Json) -> ServiceResult<Json> {
        Ok(match generator {
            "password" => Json::String(random::password(length(argument, PASSWORD_CHARS))?),
            "hexstring" => Json::String(random::hex_text(length(argument, HEX_CHARS))?),
            "uuid4" => Json::String(random::uuid()?),
            "cephx_key" => Json::String(self.cephx_key()?),
            "identical" => Json::String(argument.map(plain_text).unwrap_or_default()),
            "ip" => Json::String(self.address.clone()),
            "from_settings" => Json::String(String::new()),
            // Unknown generators are stored unchanged.
            _ => declaration.clone(),
        })
    }

    fn cephx_key(&self) -> ServiceResult<String> {
        let secret = random::bytes::<16>()?;
        let seconds = i32::try_from(self.now.0 / Micros::SECOND).unwrap_or(i32::MAX);
        let mut key = Vec::with_capacity(28);
        key.extend(CEPHX_KEY_TYPE.to_le_bytes());
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

/// Parses a length such as `64` or `'64'`.
fn length(argument: Option<&Json>, default: usize) -> usize {
    let chars = argument.and_then(|value| plain_text(value).parse::<usize>().ok());
    chars.unwrap_or(default).clamp(1, CHARS_MAX)
}

fn plain_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
