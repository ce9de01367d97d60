//! Rewrites paths of the settings page to paths of deployed settings.

use crate::dialect::Dialect;
use crate::lexer::{TokenKind, tokens};
use crate::tree::ModelPath;

/// Rewrites a task condition over the settings of a cluster to one over deployed settings.
///
/// Conditions name settings as on the settings page; deployed settings are flattened:
///
/// | settings page | deployment |
/// |---|---|
/// | `settings:additional_components.X[.value]` | `settings:X.enabled` |
/// | `settings:common.X[.value]` | `settings:X` |
/// | `settings:….value` | `settings:…` |
///
/// Fuel does this by text replacement. Here only whole keys of whole paths are replaced, so that
///
/// * `settings:a.valueless` and `settings:some-value` stay (Fuel gives `settings:aless` and `settings:some`);
/// * `settings:additional_components.a-b` becomes `settings:a-b.enabled` (Fuel gives `settings:a.enabled-b`);
/// * quoted text stays, and so does a model whose name only ends in `settings`;
/// * a `value` followed by more keys stays, as in Fuel: `settings:a.value.name`.
///
/// A text with invalid syntax is returned unchanged; parsing it reports the error. Rewriting is idempotent
/// unless a flattened key is itself called `common`, `additional_components` or `value`.
pub fn rewrite_for_deployment(text: &str) -> String {
    let Ok(tokens) = tokens(text, Dialect::Task) else { return text.to_owned() };
    let (mut rewritten, mut copied) = (String::with_capacity(text.len()), 0);
    for token in tokens {
        let TokenKind::Path(path) = token.kind else { continue };
        let Some(keys) = deployed_keys(&path) else { continue };
        rewritten.push_str(&text[copied..token.span.start]);
        rewritten.push_str(&path.model);
        rewritten.push(':');
        rewritten.push_str(&keys.join("."));
        copied = token.span.end;
    }
    rewritten.push_str(&text[copied..]);
    rewritten
}

/// Returns the keys of a deployed setting, if they differ from those of the settings page.
fn deployed_keys(path: &ModelPath) -> Option<Vec<&str>> {
    if path.model != "settings" {
        return None;
    }
    let keys: Vec<&str> = path.keys.iter().map(String::as_str).collect();
    match &keys[..] {
        ["additional_components", name, "value"] => Some(vec![name, "enabled"]),
        ["additional_components", name, rest @ ..] => Some([&[*name, "enabled"], rest].concat()),
        ["common", only] => Some(vec![only]),
        ["common", inner @ .., "value"] | [inner @ .., "value"] if !inner.is_empty() => Some(inner.to_vec()),
        ["common", inner @ ..] if !inner.is_empty() => Some(inner.to_vec()),
        _ => None,
    }
}
