//! Tab completion.

use stoker_yaql::Value;

use super::command::COMMANDS;

/// Names that can be completed.
pub(super) struct Scope<'a> {
    pub(super) functions: &'a [String],
    pub(super) methods: &'a [String],
    pub(super) data: &'a Value,
    /// Names without `$`.
    pub(super) vars: &'a [(String, Value)],
}

/// Returns the start of the word at the cursor and its completions.
pub(super) fn complete(line: &str, cursor: usize, scope: &Scope<'_>) -> (usize, Vec<String>) {
    let before = &line[..line.floor_char_boundary(cursor)];
    if before.starts_with(':') && !before.contains(char::is_whitespace) {
        return (0, matching(before, COMMANDS.iter().map(|(name, ..)| (*name).to_owned())));
    }
    let start = before.trim_end_matches(is_word).len();
    let (head, word) = before.split_at(start);
    if head.ends_with('$') {
        let names = scope.vars.iter().map(|(name, _)| name.clone());
        return (start, matching(word, names));
    }
    let Some(receiver) = head.strip_suffix('.') else {
        return (start, matching(word, scope.functions.iter().map(|name| format!("{name}("))));
    };
    let receiver = receiver.strip_suffix('?').unwrap_or(receiver);
    let keys = path_value(receiver, scope).map(keys).unwrap_or_default();
    let methods = scope.methods.iter().map(|name| format!("{name}("));
    (start, matching(word, keys.into_iter().chain(methods)))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn matching(prefix: &str, candidates: impl Iterator<Item = String>) -> Vec<String> {
    candidates.filter(|candidate| candidate.starts_with(prefix)).collect()
}

/// Resolves the path at the end of the text, such as `$.a.b` or `$name`. A list is resolved to its first
/// element, because a key after a dot applies to its elements.
fn path_value<'a>(text: &str, scope: &Scope<'a>) -> Option<&'a Value> {
    let start = text.trim_end_matches(|letter| is_word(letter) || letter == '.' || letter == '?').len();
    if !text[..start].ends_with('$') {
        return None;
    }
    let mut steps = text[start..].split('.').map(|step| step.trim_end_matches('?'));
    let name = steps.next().unwrap_or_default();
    let mut value = match name {
        "" | "1" => scope.data,
        _ => scope.vars.iter().find(|(var, _)| var == name).map(|(_, value)| value)?,
    };
    for key in steps {
        value = first_element(value).as_map()?.get_str(key)?;
    }
    Some(value)
}

fn first_element(value: &Value) -> &Value {
    value.as_seq().and_then(|items| items.first()).unwrap_or(value)
}

/// Returns the keys that can follow a dot without quoting.
fn keys(value: &Value) -> Vec<String> {
    const KEYS_MAX: usize = 1000;
    let Some(map) = first_element(value).as_map() else { return Vec::new() };
    let is_identifier =
        |key: &&str| key.chars().all(is_word) && key.starts_with(|first: char| !first.is_ascii_digit());
    map.iter()
        .take(KEYS_MAX)
        .filter_map(|(key, _)| key.as_str())
        .filter(is_identifier)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use stoker_yaql::json::parse;

    use super::*;

    /// Completes at the position of `|`.
    fn check(text: &str, start: usize, expected: &[&str]) {
        let data =
            parse(r#"{"nodes": [{"name": "a", "rack": 1, "b c": 0}], "storage": {"pool": {"size": 3}}}"#);
        let vars = [("_".to_owned(), parse(r#"{"last": 1}"#).unwrap()), ("site".to_owned(), Value::Null)];
        let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let scope = Scope {
            functions: &strings(&["len", "let"]),
            methods: &strings(&["len", "select"]),
            data: &data.unwrap(),
            vars: &vars,
        };
        let cursor = text.find('|').unwrap();
        assert_eq!(complete(&text.replace('|', ""), cursor, &scope), (start, strings(expected)), "{text}");
    }

    #[test]
    fn completes_functions_at_the_start_of_an_expression() {
        check("le|", 0, &["len(", "let("]);
        check("1 + le|n", 4, &["len(", "let("]);
        check("zz|", 0, &[]);
    }

    #[test]
    fn completes_keys_and_methods_after_a_dot() {
        check("$.|", 2, &["nodes", "storage", "len(", "select("]);
        check("$.st|", 2, &["storage"]);
        check("f($.storage.pool.s|", 17, &["size", "select("]);
        check("$?.storage?.p|", 12, &["pool"]);
    }

    #[test]
    fn completes_keys_of_list_elements() {
        check("$.nodes.r|", 8, &["rack"]);
        check("$.nodes.|", 8, &["name", "rack", "len(", "select("]);
    }

    #[test]
    fn completes_only_methods_of_unknown_values() {
        check("f().l|", 4, &["len("]);
        check("$.nowhere.l|", 10, &["len("]);
        check("'x'.s|", 4, &["select("]);
    }

    #[test]
    fn completes_variables_and_their_keys() {
        check("$s|", 1, &["site"]);
        check("$|", 1, &["_", "site"]);
        check("$_.l|", 3, &["last", "len("]);
        check("$nobody.l|", 8, &["len("]);
    }

    #[test]
    fn completes_commands_at_the_start_of_a_line() {
        check(":e|", 0, &[":explain"]);
        check(":explain le|", 9, &["len(", "let("]);
    }
}
