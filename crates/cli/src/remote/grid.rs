//! Table layout that fits the terminal and never breaks a name.
//!
//! If the longest words of all columns fit side by side, cells wrap between words. Otherwise the columns that do not
//! fit are printed below their row, each with its title.

use unicode_width::UnicodeWidthStr as _;

use crate::text::wrap;

/// Spaces between two columns.
const GAP: usize = 3;
/// Indentation of the fields below a row.
const INDENT: usize = 4;

/// Renders a table; without `room` the line length is unlimited.
pub(super) fn draw(header: &[&str], rows: &[Vec<String>], room: Option<u16>) -> String {
    let room_cells = room.map_or(usize::MAX, usize::from);
    let columns: Vec<Column> =
        (0..header.len()).map(|idx| Column::of(idx, header, rows, room_cells)).collect();
    let (inline, below) = split_columns(&columns, room_cells);
    let widths = widths(&inline, room_cells);
    let row_lines = |row: &[&str]| row_lines(&inline, &widths, row);
    let rule = "─".repeat(widths.iter().sum::<usize>() + GAP * (widths.len() - 1));
    let mut lines = row_lines(header);
    lines.push(rule);
    for row in rows {
        lines.extend(row_lines(&row.iter().map(String::as_str).collect::<Vec<_>>()));
        let rest: Vec<String> = below
            .iter()
            .filter(|column| !row[column.idx].is_empty())
            .map(|column| format!("{}: {}", header[column.idx], row[column.idx]))
            .collect();
        if !rest.is_empty() {
            lines.push(wrap(&rest.join(" · "), room, INDENT));
        }
    }
    lines.join("\n")
}

#[derive(Clone, Copy)]
struct Column {
    idx: usize,
    /// Width with every cell on one line.
    natural: usize,
    /// Width of the longest word, capped at half of a line.
    minimum: usize,
}

impl Column {
    fn of(idx: usize, header: &[&str], rows: &[Vec<String>], room: usize) -> Self {
        let title = header[idx].width();
        let cells = || rows.iter().map(|row| row[idx].as_str());
        let widest = cells().flat_map(str::lines).map(str::width).max().unwrap_or(0);
        let word = cells().flat_map(str::split_whitespace).map(str::width).max().unwrap_or(0);
        Self { idx, natural: widest.max(title), minimum: word.min(room / 2).max(title) }
    }
}

/// Splits columns into those side by side and those below the row.
fn split_columns(columns: &[Column], room: usize) -> (Vec<Column>, Vec<Column>) {
    let mut used = 0;
    columns.iter().partition(|column| {
        let more = column.minimum + if column.idx == 0 { 0 } else { GAP };
        let fits = column.idx == 0 || used + more <= room;
        used += if fits { more } else { 0 };
        fits
    })
}

/// Gives each column its minimum width and distributes the rest to the columns that lack most.
fn widths(columns: &[Column], room: usize) -> Vec<usize> {
    let gaps = GAP * (columns.len() - 1);
    let natural: usize = columns.iter().map(|column| column.natural).sum();
    if natural.saturating_add(gaps) <= room {
        return columns.iter().map(|column| column.natural).collect();
    }
    let mut widths: Vec<usize> = columns.iter().map(|column| column.minimum).collect();
    let used: usize = widths.iter().sum();
    for _ in used..room.saturating_sub(gaps) {
        let lack = |idx: &usize| columns[*idx].natural.saturating_sub(widths[*idx]);
        let Some(idx) = (0..columns.len()).max_by_key(lack).filter(|idx| lack(idx) > 0) else { break };
        widths[idx] += 1;
    }
    widths
}

/// Renders one row as lines.
fn row_lines(columns: &[Column], widths: &[usize], row: &[&str]) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        columns.iter().zip(widths).map(|(column, width)| wrap_cell(row[column.idx], *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    (0..height)
        .map(|number| {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(widths) {
                let cell_line = cell.get(number).map_or("", String::as_str);
                line.push_str(cell_line);
                line.push_str(&" ".repeat(width.saturating_sub(cell_line.width()) + GAP));
            }
            line.trim_end().to_owned()
        })
        .collect()
}

/// Wraps a cell to this width. Breaks only words that are longer than a line.
fn wrap_cell(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            for letter in word.chars() {
                if !line.is_empty() && line.width() + letter.to_string().width() > width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(room: Option<u16>) -> String {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let header = ["task", "type", "requires"];
        let rows = vec![
            words(&["post_deployment_start", "stage", ""]),
            words(&["a", "shell", "post_deployment_start, another-task-with-a-name"]),
        ];
        draw(&header, &rows, room)
    }

    #[test]
    fn names_are_not_broken_at_any_width() {
        for room in [None, Some(160), Some(80), Some(64), Some(50), Some(40)] {
            let output = table(room);
            for name in ["post_deployment_start", "another-task-with-a-name"] {
                assert!(output.contains(name), "{room:?}:\n{output}");
            }
            let is_narrow = |line: &str| room.is_none_or(|room| line.width() <= usize::from(room));
            assert!(output.lines().all(is_narrow), "{room:?}:\n{output}");
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_printed_below_the_row() {
        let expected = "\
task                    type
─────────────────────────────
post_deployment_start   stage
a                       shell
    requires: post_deployment_start,
    another-task-with-a-name";
        assert_eq!(table(Some(50)), expected);
    }

    #[test]
    fn unusual_cells_render() {
        for cell in ["", "\n", " \n\n", "äöü漢字漢字漢字", "x\u{301}".repeat(50).as_str()] {
            for room in [0, 1, 2, 5, 80] {
                let row = vec![cell.to_owned(), cell.to_owned()];
                draw(&["a", "title"], &[row], Some(room));
            }
        }
    }
}
