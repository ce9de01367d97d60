//! Whether more has to come before a text can be an expression.

/// Whether a bracket or a quote is open at the end. A bracket that closes nothing means that no more is wanted:
/// the parser has something to say about it.
pub(super) fn is_unfinished(text: &str) -> bool {
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

/// Goes past the closing quote; false if there is none.
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
    fn open_brackets_and_quotes_ask_for_more() {
        for text in ["f(", "[1, {a => ", "'it", "\"a\\\"", "`x", "f(')'"] {
            assert!(is_unfinished(text), "{text}");
        }
    }

    #[test]
    fn what_is_complete_or_wrong_is_handed_over() {
        for text in ["", "f()", "'('", ")", "(]", "f)(", "'a\\'b'", ":set x ("] {
            assert!(!is_unfinished(text), "{text}");
        }
    }
}
