//! Detects incomplete expressions.

/// Reports whether a bracket or quote is still open. An unmatched closing bracket counts as complete: the
/// parser reports it.
pub(super) fn is_incomplete(text: &str) -> bool {
    if text.trim_start().starts_with(':') {
        return false;
    }
    let mut open = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(letter) => return false,
            '\'' | '"' | '`' if !skip_string(&mut letters, letter) => return true,
            _ => {}
        }
    }
    !open.is_empty()
}

/// Skips to the closing quote; returns false if there is none.
fn skip_string(letters: &mut std::str::Chars<'_>, quote: char) -> bool {
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == quote {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_brackets_and_quotes_are_incomplete() {
        for text in ["f(", "[1, {a => ", "'it", "\"a\\\"", "`x", "f(')'"] {
            assert!(is_incomplete(text), "{text}");
        }
    }

    #[test]
    fn complete_and_invalid_expressions_are_not_incomplete() {
        for text in ["", "f()", "'('", ")", "(]", "f)(", "'a\\'b'", ":set x ("] {
            assert!(!is_incomplete(text), "{text}");
        }
    }
}
