//! Inputs of an instance: its parameters as rendered, without scheduling parameters.

use serde_json::json;
use stoker_model::{Json, JsonMap};
use stoker_state::{InputsDigest, Secrets, is_secret};

use super::SCHEDULING;
use crate::digests::Hash;
use crate::input::InputsKey;

/// Longest text that is stored and displayed as is, in bytes.
const TEXT_LEN_MAX: usize = 4096;

/// Parameters without scheduling parameters.
pub fn inputs_of(parameters: &Json) -> Json {
    match parameters {
        Json::Object(map) => {
            let inputs = map.iter().filter(|(key, _)| !SCHEDULING.contains(&key.as_str()));
            Json::Object(inputs.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// Fingerprint of the inputs, over unmasked values: it does not depend on which values are known as secrets.
pub fn inputs_digest(task_type: &str, inputs: &Json, key: &InputsKey) -> InputsDigest {
    let mut hash = Hash::keyed(&key.0);
    hash.text(task_type);
    hash.json(inputs);
    InputsDigest(hash.finish())
}

/// Inputs for storage and display: secrets and long texts are replaced by keyed hashes, so that a change of them is
/// still visible.
pub fn inputs_document(inputs: &Json, secrets: &Secrets, key: &InputsKey) -> JsonMap {
    match inputs {
        Json::Object(map) => storable_map(map, secrets, key),
        Json::Null => JsonMap::new(),
        // Parameters are a map or null; anything else fails planning.
        other => JsonMap::from_iter([(String::new(), storable(other, false, secrets, key))]),
    }
}

fn storable_map(map: &JsonMap, secrets: &Secrets, key: &InputsKey) -> JsonMap {
    map.iter().map(|(name, value)| (name.clone(), storable(value, is_secret(name), secrets, key))).collect()
}

fn storable(value: &Json, has_secret_name: bool, secrets: &Secrets, key: &InputsKey) -> Json {
    let hash = || inputs_digest("", value, key).to_string();
    match value {
        Json::String(_) | Json::Number(_) if has_secret_name => {
            json!({"$secret": hash(), "text": "(secret)"})
        }
        Json::String(text) => {
            let masked = secrets.mask_text(text);
            if text.len() > TEXT_LEN_MAX {
                json!({"$text": hash(), "chars": text.chars().count()})
            } else if masked != *text {
                json!({"$secret": hash(), "text": masked})
            } else {
                value.clone()
            }
        }
        Json::Number(number) if secrets.mask_text(&number.to_string()) != number.to_string() => {
            json!({"$secret": hash(), "text": "(secret)"})
        }
        Json::Array(items) => {
            items.iter().map(|item| storable(item, has_secret_name, secrets, key)).collect()
        }
        Json::Object(map) => Json::Object(storable_map(map, secrets, key)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: InputsKey = InputsKey([7; 32]);

    #[test]
    fn scheduling_parameters_are_no_inputs() {
        let parameters = json!({
            "cmd": "run", "timeout": 5, "retries": 1, "interval": 2, "retry_interrupted": true,
            "strategy": {"type": "one_by_one"}, "nested": {"timeout": 1},
        });
        assert_eq!(inputs_of(&parameters), json!({"cmd": "run", "nested": {"timeout": 1}}));
        assert_eq!(inputs_of(&Json::Null), Json::Null);
    }

    #[test]
    fn digests_depend_on_type_values_and_key() {
        let digest = |task_type: &str, inputs: Json, key: &InputsKey| inputs_digest(task_type, &inputs, key);
        let base = digest("shell", json!({"a": 1, "b": [true]}), &KEY);
        assert_eq!(base, digest("shell", json!({"b": [true], "a": 1}), &KEY));
        for other in [
            digest("puppet", json!({"a": 1, "b": [true]}), &KEY),
            digest("shell", json!({"a": "1", "b": [true]}), &KEY),
            digest("shell", json!({"a": 1, "b": [1]}), &KEY),
            digest("shell", json!({"a": 1, "b": [true], "c": null}), &KEY),
            digest("shell", json!({"a": 1, "b": [true]}), &InputsKey::default()),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn secrets_and_long_texts_are_stored_as_hashes() {
        let mut secrets = Secrets::default();
        secrets.add(json!({"db": {"type": "password", "value": "hunter2x"}}).as_object().unwrap());
        let inputs = json!({
            "cmd": "mysql -phunter2x", "data": "x".repeat(5000), "db_password": "short", "pin_key": 4711,
            "tokens": {"api_token": ["abc"]}, "plain": [1, null, "text"],
        });
        let document = Json::Object(inputs_document(&inputs, &secrets, &KEY));
        let text = document.to_string();
        for secret in ["hunter2x", "short", "abc", "xxxx"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!(document["cmd"]["text"], "mysql -p(secret)");
        assert_eq!(document["data"]["chars"], 5000);
        assert_eq!(document["plain"], json!([1, null, "text"]));
        let rotated = json!({"cmd": "mysql -phunter3x", "db_password": "shorter"});
        let rotated = Json::Object(inputs_document(&rotated, &secrets, &KEY));
        assert_ne!(rotated["db_password"], document["db_password"]);
        assert_eq!(format!("{KEY:?}"), "InputsKey");
    }
}
