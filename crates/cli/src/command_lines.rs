//! Tests that every `stoker` command line in help texts and documentation parses.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::FromArgMatches as _;

use stoker_model::ErrorChain;

use crate::args::{Cli, command};

/// Built once: building the command tree takes longer than parsing a line with it.
static COMMAND: LazyLock<clap::Command> = LazyLock::new(command);

/// Returns the arguments of each `stoker` invocation in a shell line, without preceding commands and redirections.
fn invocations(line: &str) -> Vec<Vec<String>> {
    let mut invocations = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find("stoker ") {
        let is_invocation = is_command_start(&rest[..at]);
        rest = &rest[at + "stoker ".len()..];
        if !is_invocation {
            continue;
        }
        let (words, length) = split_words(rest);
        invocations.push(words);
        rest = &rest[length..];
    }
    invocations
}

/// Reports whether a command can start after `before`: at the start of a line, after another command, or
/// after variable assignments. Elsewhere the word `stoker` names a user, a service or a directory.
fn is_command_start(before: &str) -> bool {
    if before.ends_with(|letter: char| !letter.is_whitespace() && letter != '(') {
        return false;
    }
    match before.split_whitespace().next_back() {
        None => true,
        Some(word) => {
            let is_assignment = word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
            is_assignment || matches!(word, "$" | "sudo") || word.ends_with(['(', ';', '|', '&'])
        }
    }
}

/// Splits `text` into words up to the end of the command and returns them with the number of bytes consumed.
fn split_words(text: &str) -> (Vec<String>, usize) {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            // A command substitution is part of the word.
            (None, '(') if word.as_ref().is_some_and(|word| word.ends_with('$')) => quote = Some(')'),
            (None, ' ') => words.extend(word.take()),
            (None, '#' | '(') if word.is_none() => return (words, at),
            (None, '|' | '>' | '<' | ';' | '&' | ')') => {
                words.extend(word.take());
                return (words, at);
            }
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    (words, text.len())
}

fn parse_error(words: &[String]) -> Option<String> {
    // Most variables hold a numeric ID.
    let arguments = words.iter().map(|word| if word.starts_with('$') && word.len() > 1 { "1" } else { word });
    let line = std::iter::once("stoker").chain(arguments);
    let parsed =
        COMMAND.clone().try_get_matches_from(line).and_then(|matches| Cli::from_arg_matches(&matches));
    let error = parsed.err()?;
    error.use_stderr().then(|| ErrorChain(&error).to_string())
}

#[track_caller]
fn check(line: &str, location: &str, problems: &mut Vec<String>) -> usize {
    let invocations = invocations(line);
    // `…` is a placeholder for a value that the reader fills in; such lines do not parse.
    let complete = invocations.iter().filter(|words| !words.iter().any(|word| word.contains('…')));
    let mut n_checked = 0;
    for words in complete {
        n_checked += 1;
        if let Some(error) = parse_error(words) {
            problems.push(format!("{location}: {line}\n{error}"));
        }
    }
    n_checked
}

#[test]
fn help_examples_parse() {
    fn check_tree(command: &clap::Command, problems: &mut Vec<String>) -> usize {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (_, examples) =
            help.split_once("Examples:\n").or(help.split_once("Example:\n")).unwrap_or_default();
        let (examples, _) = examples.split_once("\n\n").unwrap_or((examples, ""));
        let n_own: usize = examples.lines().map(|line| check(line, command.get_name(), problems)).sum();
        n_own + command.get_subcommands().map(|verb| check_tree(verb, problems)).sum::<usize>()
    }
    let mut problems = Vec::new();
    let n_checked = check_tree(&COMMAND, &mut problems);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_checked > 200, "found only {n_checked} commands");
}

/// Returns the lines of all shell code blocks of a page with their numbers; continuation lines are joined.
fn shell_lines(page: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_shell = false;
    let mut is_continued = false;
    for (idx, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_shell = matches!(line.trim(), "```sh" | "```bash" | "```shell" | "```console");
            continue;
        }
        if !is_shell {
            continue;
        }
        let text = line.trim_end_matches('\\');
        match lines.last_mut() {
            Some((_, whole)) if is_continued => whole.push_str(text),
            _ => lines.push((idx + 1, text.to_owned())),
        }
        is_continued = line.ends_with('\\');
    }
    lines
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn documented_commands_parse() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut problems = Vec::new();
    let mut n_checked = 0;
    for path in pages(root).into_iter().chain(pages(&root.join("docs"))) {
        let page = std::fs::read_to_string(&path).unwrap();
        for (number, line) in shell_lines(&page) {
            n_checked += check(&line, &format!("{}:{number}", path.display()), &mut problems);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_checked > 80, "found only {n_checked} commands");
}

#[test]
fn lines_are_split_like_a_shell_splits_them() {
    let cut = |line: &str| invocations(line).into_iter().map(|words| words.join("|")).collect::<Vec<_>>();
    assert_eq!(cut("stoker env show 1 | head"), ["env|show|1"]);
    assert_eq!(cut("ID=$(stoker env create 'the shop' -q)  # one"), ["env|create|the shop|-q"]);
    assert_eq!(cut("sudo -u stoker true; A=b stoker yaql '$.a > \"b\"' > x"), ["yaql|$.a > \"b\""]);
    assert_eq!(cut("stoker backup to-$(date +%F).db"), ["backup|to-$date +%F.db"]);
    assert_eq!(cut("systemctl start stoker-server; ls /etc/stoker x"), Vec::<String>::new());
    assert!(parse_error(&["no-such-noun".to_owned()]).is_some());
    assert!(parse_error(&["run".to_owned(), "watch".to_owned(), "$RUN".to_owned()]).is_none());
}
