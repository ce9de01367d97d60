//! What help and documentation tell to type can be typed.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::FromArgMatches as _;

use crate::args::{Cli, command};

/// Putting it together takes longer than reading a line with it.
static COMMAND: LazyLock<clap::Command> = LazyLock::new(command);

/// The words of each call of the program in a line of a shell, without what comes before it and what its output becomes.
fn calls(line: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find("stoker ") {
        let is_call = begins(&rest[..at]);
        rest = &rest[at + "stoker ".len()..];
        if !is_call {
            continue;
        }
        let (words, length) = words(rest);
        calls.push(words);
        rest = &rest[length..];
    }
    calls
}

/// Whether a command begins after `before`: at the beginning of a line, after another command, or after variables that
/// are set for it. Elsewhere the word names a user, a service or a folder.
fn begins(before: &str) -> bool {
    if before.ends_with(|letter: char| !letter.is_whitespace() && letter != '(') {
        return false;
    }
    match before.split_whitespace().next_back() {
        None => true,
        Some(word) => {
            let sets = word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
            sets || matches!(word, "$" | "sudo") || word.ends_with(['(', ';', '|', '&'])
        }
    }
}

/// Words up to where the command ends, and how long they are. Variables stand for a number, which most of them hold.
fn words(text: &str) -> (Vec<String>, usize) {
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
            // What another command prints is part of the word.
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

fn refusal(words: &[String]) -> Option<String> {
    let given = words.iter().map(|word| if word.starts_with('$') && word.len() > 1 { "1" } else { word });
    let line = std::iter::once("stoker").chain(given);
    let parsed =
        COMMAND.clone().try_get_matches_from(line).and_then(|matches| Cli::from_arg_matches(&matches));
    let error = parsed.err()?;
    error.use_stderr().then(|| error.to_string())
}

#[track_caller]
fn check(line: &str, place: &str, wrong: &mut Vec<String>) -> usize {
    let calls = calls(line);
    // `…` stands for something that the reader knows.
    let typed = calls.iter().filter(|words| !words.iter().any(|word| word.contains('…')));
    let mut n_checked = 0;
    for words in typed {
        n_checked += 1;
        if let Some(error) = refusal(words) {
            wrong.push(format!("{place}: {line}\n{error}"));
        }
    }
    n_checked
}

#[test]
fn examples_of_commands_are_commands() {
    fn walk(command: &clap::Command, wrong: &mut Vec<String>) -> usize {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (_, examples) =
            help.split_once("Examples:\n").or(help.split_once("Example:\n")).unwrap_or_default();
        let (examples, _) = examples.split_once("\n\n").unwrap_or((examples, ""));
        let own: usize = examples.lines().map(|line| check(line, command.get_name(), wrong)).sum();
        own + command.get_subcommands().map(|verb| walk(verb, wrong)).sum::<usize>()
    }
    let mut wrong = Vec::new();
    let n_checked = walk(&COMMAND, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_checked > 200, "only {n_checked} were found");
}

/// Blocks of shell in a page, each line with its number; lines that go on with a backslash are one.
fn shell_lines(page: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_shell = false;
    let mut goes_on = false;
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
            Some((_, whole)) if goes_on => whole.push_str(text),
            _ => lines.push((idx + 1, text.to_owned())),
        }
        goes_on = line.ends_with('\\');
    }
    lines
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn commands_in_the_documentation_are_commands() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut wrong = Vec::new();
    let mut n_checked = 0;
    for path in pages(root).into_iter().chain(pages(&root.join("docs"))) {
        let page = std::fs::read_to_string(&path).unwrap();
        for (number, line) in shell_lines(&page) {
            n_checked += check(&line, &format!("{}:{number}", path.display()), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_checked > 80, "only {n_checked} were found");
}

#[test]
fn lines_are_cut_as_a_shell_cuts_them() {
    let cut = |line: &str| calls(line).into_iter().map(|words| words.join("|")).collect::<Vec<_>>();
    assert_eq!(cut("stoker env show 1 | head"), ["env|show|1"]);
    assert_eq!(cut("ID=$(stoker env create 'the shop' -q)  # one"), ["env|create|the shop|-q"]);
    assert_eq!(cut("sudo -u stoker true; A=b stoker yaql '$.a > \"b\"' > x"), ["yaql|$.a > \"b\""]);
    assert_eq!(cut("stoker backup to-$(date +%F).db"), ["backup|to-$date +%F.db"]);
    assert_eq!(cut("systemctl start stoker-server; ls /etc/stoker x"), Vec::<String>::new());
    assert!(refusal(&["no-such-noun".to_owned()]).is_some());
    assert!(refusal(&["run".to_owned(), "watch".to_owned(), "$RUN".to_owned()]).is_none());
}
