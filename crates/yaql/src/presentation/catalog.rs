//! The functions of a library as a reference: by family, under the name or symbol used in expressions.

use std::sync::Arc;

use crate::Library;
use crate::eval::suggest::closest_name;
use crate::library::{Function, Purity, Signature, Style};

/// The reference entry of a function.
pub struct Entry {
    /// Spelling in an expression: `where`, `+`, `.year`.
    pub title: String,
    pub family: String,
    pub signatures: Vec<String>,
    pub doc: String,
    /// Expressions with their results: JSON, or an error class.
    pub examples: Vec<(String, String)>,
    pub is_impure: bool,
    /// Internal name in the library.
    name: String,
}

/// Returns entries grouped by family, in the order in which families first appear.
pub fn entries(functions: &[Arc<dyn Function>]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = functions.iter().filter_map(entry).collect();
    let mut families: Vec<String> = Vec::new();
    for entry in &entries {
        if !families.contains(&entry.family) {
            families.push(entry.family.clone());
        }
    }
    // Functions of the `fallback` family are tried last, so they are listed last.
    families.sort_by_key(|family| family == "fallback");
    let family_index = |entry: &Entry| families.iter().position(|family| *family == entry.family);
    entries.sort_by(|a, b| {
        let symbol_first = |entry: &Entry| entry.title.starts_with(char::is_alphabetic);
        let key = |entry: &Entry| (family_index(entry), symbol_first(entry), entry.title.to_lowercase());
        key(a).cmp(&key(b))
    });
    entries
}

/// Returns the entries with a given title or internal name.
pub fn find<'a>(entries: &'a [Entry], query: &str) -> Vec<&'a Entry> {
    let query = query.strip_suffix("()").unwrap_or(query);
    let matches_query = |entry: &&Entry| {
        let title = entry.title.as_str();
        title == query || title.strip_prefix('.') == Some(query) || entry.name == query
    };
    entries.iter().filter(matches_query).collect()
}

/// Returns the title closest to an unknown one.
pub fn suggest_title<'a>(entries: &'a [Entry], query: &str) -> Option<&'a str> {
    closest_name(query, entries.iter().map(|entry| entry.title.as_str()))
}

/// Returns the names of all functions, or of all methods, for completion.
pub fn completion_names(library: &Library, as_method: bool) -> Vec<String> {
    let is_word = |name: &str| name.starts_with(char::is_alphabetic);
    let mut names: Vec<String> = library
        .names()
        .filter(|(name, entry)| is_word(name) && !entry.layers(as_method).is_empty())
        .map(|(name, _)| name.to_owned())
        .collect();
    names.sort();
    names
}

fn entry(function: &Arc<dyn Function>) -> Option<Entry> {
    let parsed: Vec<Signature> =
        function.signatures().iter().filter_map(|text| Signature::parse(text).ok()).collect();
    let first = parsed.first()?;
    let doc = function.doc();
    Some(Entry {
        title: title(&first.name),
        family: doc.module.to_owned(),
        signatures: parsed.iter().flat_map(written).collect(),
        doc: doc.text.to_owned(),
        examples: doc
            .examples
            .iter()
            .map(|example| (example.expression.to_owned(), example.result.to_owned()))
            .collect(),
        is_impure: doc.purity == Purity::Impure,
        name: first.name.to_string(),
    })
}

/// Returns the spelling of a library name in expressions.
pub fn title(name: &str) -> String {
    match name {
        "#call" => "value(…)".to_owned(),
        "#get_context_data" => "$name".to_owned(),
        "#indexer" => "value[…]".to_owned(),
        "#list" => "[…]".to_owned(),
        "#map" => "{…}".to_owned(),
        "*equal" => "=".to_owned(),
        "*not_equal" => "!=".to_owned(),
        _ => {
            let operator = name.strip_prefix("#operator_").or_else(|| name.strip_prefix("#unary_operator_"));
            let property = name.strip_prefix("#property#").map(|property| format!(".{property}"));
            property.unwrap_or_else(|| operator.unwrap_or(name).to_owned())
        }
    }
}

/// Renders a signature in the form of a call. A function that is also a method has two forms.
fn written(signature: &Signature) -> Vec<String> {
    if signature.style != Style::Both || signature.name.starts_with(['#', '*']) {
        return vec![signature.to_string()];
    }
    let function = Signature { style: Style::Function, ..signature.clone() };
    let method = Signature { style: Style::Method, ..signature.clone() };
    vec![function.to_string(), method.to_string()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(signature: &str, expected_title: &str, expected: &[&str]) {
        let signature = Signature::parse(signature).unwrap();
        assert_eq!(title(&signature.name), expected_title);
        assert_eq!(written(&signature), expected, "{}", signature.name);
    }

    #[test]
    fn signatures_are_formatted_as_calls() {
        check(
            "m where(collection: iter, predicate: lambda)",
            "where",
            &["(collection: iter).where(predicate: λ)"],
        );
        check("fm len(s: string)", "len", &["len(s: string)", "(s: string).len()"]);
        check("f #operator_+(left: number, right: number)", "+", &["left: number + right: number"]);
        check("f #operator_.(dict: map, key: keyword)", ".", &["(dict: map).key: keyword"]);
        check("f #unary_operator_not(arg: any)", "not", &["not arg: any"]);
        check("f #unary_operator_-(op: number)", "-", &["-op: number"]);
        check("f *equal(left: any, right: any)", "=", &["left: any = right: any"]);
        check("f #indexer(list: seq, index: int)", "value[…]", &["(list: seq)[index: int]"]);
        check("f #map(args: pair...) pairs", "{…}", &["{args: pair…}"]);
        check("f #property#year(obj: datetime)", ".year", &["(obj: datetime).year"]);
    }

    #[test]
    fn entries_are_found_by_title_and_by_name() {
        let entries = entries(Library::standard().functions());
        assert!(!find(&entries, "where").is_empty());
        assert!(!find(&entries, "where()").is_empty());
        assert!(!find(&entries, "#operator_.").is_empty());
        assert!(find(&entries, "wehre").is_empty());
        assert_eq!(suggest_title(&entries, "wehre"), Some("where"));
    }
}
