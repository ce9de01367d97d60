//! Paths of the settings page as paths of a deployment.

use crate::dialect::Dialect;
use crate::lexer::{TokenKind, tokens};
use crate::tree::ModelPath;

/// The condition of a task, written about the settings of a cluster, as one about what is deployed.
///
/// Conditions name settings as the settings page knows them; a deployment sees them flattened:
///
/// | settings page | deployment |
/// |---|---|
/// | `settings:additional_components.X[.value]` | `settings:X.enabled` |
/// | `settings:common.X[.value]` | `settings:X` |
/// | `settings:….value` | `settings:…` |
///
/// The predecessor does this by searching the text. Here whole keys of whole paths are replaced, so that
///
/// * `settings:a.valueless` and `settings:some-value` stay (they became `settings:aless` and `settings:some`);
/// * `settings:additional_components.a-b` is `settings:a-b.enabled` (it became `settings:a.enabled-b`);
/// * text in quotes stays, and so does a model whose name only ends in `settings`;
/// * a `value` that is followed by more keys stays, as ever: `settings:a.value.name`.
///
/// A text that is no condition comes back as it is; reading it tells what is wrong. Paths that were rewritten come
/// back the same when they are rewritten again, unless a flattened key is itself called `common`,
/// `additional_components` or `value`.
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

/// The keys under which a setting is deployed, if they are others than those of the settings page.
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
