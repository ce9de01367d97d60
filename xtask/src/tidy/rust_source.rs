//! Views of Rust source: code without comments and literals, comments alone, code without tests.
//!
//! A scanner, not a parser, to avoid a large dependency. It recognises comments and string, character and raw string
//! literals and replaces hidden text by spaces, so that line numbers stay the same.

/// Code and comments of a file, with the same line numbers.
pub(super) struct Split {
    pub(super) code: String,
    pub(super) comments: String,
}

pub(super) fn split(text: &str) -> Split {
    let mut scanner =
        Scanner { chars: text.chars().collect(), at: 0, code: String::new(), comments: String::new() };
    scanner.scan();
    Split { code: scanner.code, comments: scanner.comments }
}

/// Returns the code with comments, literals and `#[cfg(test)]` items replaced by spaces.
pub(super) fn code_without_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut code = split(text).code;
    while let Some(start) = code.find(MARK) {
        let end = item_end(&code, start + MARK.len());
        let blank: String = code[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        code.replace_range(start..end, &blank);
    }
    code
}

/// Returns the line number of a byte offset, counted from 1.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    text[..byte].matches('\n').count() + 1
}

/// Returns the end of the item that starts at `from`: its closing brace, or a semicolon before any brace.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, c) in code[from..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return from + offset + 1;
                }
            }
            ';' if depth == 0 => return from + offset + 1,
            _ => {}
        }
    }
    code.len()
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    code: String,
    comments: String,
}

impl Scanner {
    fn scan(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                '/' if self.peek(1) == Some('/') => self.line_comment(),
                '/' if self.peek(1) == Some('*') => self.block_comment(),
                '"' => self.string(),
                '\'' => self.quote(),
                'r' | 'b' | 'c' if !self.inside_word() && self.raw_hashes().is_some() => self.raw_string(),
                _ => self.keep(),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn inside_word(&self) -> bool {
        self.at > 0 && (self.chars[self.at - 1].is_alphanumeric() || self.chars[self.at - 1] == '_')
    }

    /// Copies the current character as code.
    fn keep(&mut self) {
        self.push(true, false);
    }

    /// Hides the current character, which is part of a literal: neither code nor comment.
    fn hide(&mut self) {
        self.push(false, false);
    }

    fn push(&mut self, in_code: bool, in_comment: bool) {
        let Some(c) = self.peek(0) else { return };
        let visible = |is_visible: bool| if is_visible || c == '\n' { c } else { ' ' };
        self.code.push(visible(in_code));
        self.comments.push(visible(in_comment));
        self.at += 1;
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.push(false, true);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.peek(0).is_some() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.push(false, true);
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.push(false, true);
                    if depth == 0 {
                        self.push(false, true);
                        return;
                    }
                }
                _ => {}
            }
            self.push(false, true);
        }
    }

    fn string(&mut self) {
        self.hide();
        while let Some(c) = self.peek(0) {
            self.hide();
            match c {
                '\\' => self.hide(),
                '"' => return,
                _ => {}
            }
        }
    }

    /// Hides a character literal; a lifetime or a label is code.
    fn quote(&mut self) {
        let is_literal = self.peek(1) == Some('\\') || self.peek(2) == Some('\'');
        if !is_literal {
            return self.keep();
        }
        self.hide();
        if self.peek(0) == Some('\\') {
            self.hide();
        }
        self.hide();
        while self.peek(0).is_some_and(|c| c != '\'') {
            self.hide();
        }
        self.hide();
    }

    /// Returns the number of prefix letters and of hashes if a raw string starts here.
    fn raw_hashes(&self) -> Option<(usize, usize)> {
        let n_letters = match (self.peek(0)?, self.peek(1)) {
            ('r', _) => 1,
            ('b' | 'c', Some('r')) => 2,
            _ => return None,
        };
        let mut n_hashes = 0;
        while self.peek(n_letters + n_hashes) == Some('#') {
            n_hashes += 1;
        }
        (self.peek(n_letters + n_hashes) == Some('"')).then_some((n_letters, n_hashes))
    }

    fn raw_string(&mut self) {
        let Some((n_letters, n_hashes)) = self.raw_hashes() else { return };
        for _ in 0..=n_letters + n_hashes {
            self.hide();
        }
        while let Some(c) = self.peek(0) {
            self.hide();
            if c == '"' && (0..n_hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                for _ in 0..n_hashes {
                    self.hide();
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_code(text: &str, expect: &str) {
        assert_eq!(split(text).code, expect, "in {text}");
    }

    #[test]
    fn literals_and_comments_are_not_code() {
        check_code("a // b", "a     ");
        check_code("a /* b /* c */ d */ e", "a                   e");
        check_code(r#"f("x \" y") z"#, r"f(        ) z");
        check_code(r##"r#"a"b"# z"##, "         z");
        check_code(r"('\'', 'x', '\u{41}') z", "(    ,    ,         ) z");
        check_code("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check_code("b\"x\" br\"y\" for r in", "b          for r in");
    }

    #[test]
    fn line_numbers_do_not_change() {
        let text = "a\n\"x\ny\"\n// c\nd";
        let split = split(text);
        assert_eq!(split.code.lines().count(), text.lines().count());
        assert_eq!(split.comments.lines().nth(3), Some("// c"));
    }

    #[test]
    fn test_items_are_blanked() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { x[0]; } }\n#[cfg(test)]\nuse c;\nfn d() {}";
        let code = code_without_tests(text);
        assert!(code.contains("fn a()") && code.contains("fn d()"));
        assert!(!code.contains("fn b") && !code.contains("use c"));
        assert_eq!(code.lines().count(), text.lines().count());
    }
}
