//! Tokenizer of free-form dates, and the words they may contain.

use super::chars::{is_digit, is_letter, is_space};

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Word,
    Number,
    /// A word that contains a period; split into pieces at the end of the token.
    DottedWord,
    /// A number that contains a period or comma.
    DottedNumber,
}

/// Splits text into words, numbers and single other characters. Each whitespace character becomes a blank.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().filter(|&c| c != '\0').collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        next_token(&chars, &mut at, &mut tokens);
    }
    tokens
}

fn next_token(chars: &[char], at: &mut usize, tokens: &mut Vec<String>) {
    let mut token = String::new();
    let mut state = State::Start;
    // Set by the second letter, so that a single letter does not count.
    let mut letters = false;
    while let Some(&c) = chars.get(*at) {
        letters |= matches!(state, State::Word | State::DottedWord);
        let next = match state {
            State::Start if is_letter(c) => State::Word,
            State::Start if is_digit(c) => State::Number,
            State::Start => {
                *at += 1;
                tokens.push(if is_space(c) { " ".to_owned() } else { c.to_string() });
                return;
            }
            State::Word if is_letter(c) => State::Word,
            State::Word if c == '.' => State::DottedWord,
            State::Number if is_digit(c) => State::Number,
            State::Number if c == '.' || (c == ',' && token.chars().nth(1).is_some()) => State::DottedNumber,
            State::DottedWord if c == '.' || is_letter(c) => State::DottedWord,
            State::DottedWord if is_digit(c) && token.ends_with('.') => State::DottedNumber,
            State::DottedNumber if c == '.' || is_digit(c) => State::DottedNumber,
            State::DottedNumber if is_letter(c) && token.ends_with('.') => State::DottedWord,
            _ => break,
        };
        token.push(c);
        state = next;
        *at += 1;
    }
    finish(token, state, letters, tokens);
}

/// Emits a token. A period belongs to a number only if it is the only period and is between digits.
fn finish(token: String, state: State, letters: bool, tokens: &mut Vec<String>) {
    let dotted = matches!(state, State::DottedWord | State::DottedNumber);
    let points = token.matches('.').count();
    if dotted && (letters || points > 1 || token.ends_with(['.', ','])) {
        for piece in token.split_inclusive(['.', ',']) {
            let name = piece.trim_end_matches(['.', ',']);
            tokens.extend((!name.is_empty()).then(|| name.to_owned()));
            tokens.extend((name.len() < piece.len()).then(|| piece[name.len()..].to_owned()));
        }
    } else if state == State::DottedNumber && points == 0 {
        tokens.push(token.replace(',', "."));
    } else {
        tokens.push(token);
    }
}

fn position(word: &str, table: &[&[&str]]) -> Option<usize> {
    let word = word.to_lowercase();
    table.iter().position(|names| names.contains(&word.as_str()))
}

/// Reports whether a token is a filler without meaning.
pub(super) fn is_jump(word: &str) -> bool {
    position(
        word,
        &[&[
            " ", ".", ",", ";", "-", "/", "'", "at", "on", "and", "ad", "m", "t", "of", "st", "nd", "rd",
            "th",
        ]],
    )
    .is_some()
}

/// Parses the name of a weekday; Monday is 0.
pub(super) fn weekday(word: &str) -> Option<i128> {
    let names: [&[&str]; 7] = [
        &["mon", "monday"],
        &["tue", "tuesday"],
        &["wed", "wednesday"],
        &["thu", "thursday"],
        &["fri", "friday"],
        &["sat", "saturday"],
        &["sun", "sunday"],
    ];
    position(word, &names).map(|index| index as i128)
}

/// Parses the name of a month; January is 1.
pub(super) fn month(word: &str) -> Option<i128> {
    let names: [&[&str]; 12] = [
        &["jan", "january"],
        &["feb", "february"],
        &["mar", "march"],
        &["apr", "april"],
        &["may"],
        &["jun", "june"],
        &["jul", "july"],
        &["aug", "august"],
        &["sep", "sept", "september"],
        &["oct", "october"],
        &["nov", "november"],
        &["dec", "december"],
    ];
    position(word, &names).map(|index| index as i128 + 1)
}

/// Parses a time unit: 0 for hours, 1 for minutes, 2 for seconds.
pub(super) fn unit(word: &str) -> Option<usize> {
    position(word, &[&["h", "hour", "hours"], &["m", "minute", "minutes"], &["s", "second", "seconds"]])
}

/// Parses an AM/PM marker; true for PM.
pub(super) fn afternoon(word: &str) -> Option<bool> {
    position(word, &[&["am", "a"], &["pm", "p"]]).map(|index| index == 1)
}

pub(super) fn is_utc(word: &str) -> bool {
    position(word, &[&["utc", "gmt", "z"]]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_tokens() {
        let cases: [(&str, &[&str]); 9] = [
            ("2017-03-04T10:20:30.5", &["2017", "-", "03", "-", "04", "T", "10", ":", "20", ":", "30.5"]),
            ("Sep.20.2009", &["Sep", ".", "20", ".", "2009"]),
            ("1.2.3", &["1", ".", "2", ".", "3"]),
            ("12,5 1,5", &["12.5", " ", "1", ",", "5"]),
            ("a.m.", &["a", ".", "m", "."]),
            ("5. x", &["5", ".", " ", "x"]),
            ("1.a", &["1.a"]),
            ("12,5.5", &["12,5.5"]),
            ("a\0b\t²", &["ab", " ", "²"]),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }
}
