//! Rows and columns that fit the terminal and break no name.
//!
//! Where the longest words of all columns have room beside each other, cells are wrapped between words. Where they
//! have not, the columns that do not fit go beneath the line of their row, each with its title.

use unicode_width::UnicodeWidthStr as _;

use crate::text::wrapped;

/// Blanks between two columns.
const GAP: usize = 3;
/// Blanks before what stands beneath a row.
const INDENT: usize = 4;

/// Draws a table; without `room` lines are as long as they like.
pub(super) fn draw(header: &[&str], rows: &[Vec<String>], room: Option<u16>) -> String {
    let room_cells = room.map_or(usize::MAX, usize::from);
    let columns: Vec<Column> =
        (0..header.len()).map(|idx| Column::of(idx, header, rows, room_cells)).collect();
    let (beside, beneath) = divided(&columns, room_cells);
    let widths = widths(&beside, room_cells);
    let line = |row: &[&str]| line(&beside, &widths, row);
    let rule = "─".repeat(widths.iter().sum::<usize>() + GAP * (widths.len() - 1));
    let mut lines = line(header);
    lines.push(rule);
    for row in rows {
        lines.extend(line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
        let rest: Vec<String> = beneath
            .iter()
            .filter(|column| !row[column.idx].is_empty())
            .map(|column| format!("{}: {}", header[column.idx], row[column.idx]))
            .collect();
        if !rest.is_empty() {
            lines.push(wrapped(&rest.join(" · "), room, INDENT));
        }
    }
    lines.join("\n")
}

#[derive(Clone, Copy)]
struct Column {
    idx: usize,
    /// With every cell on one line.
    natural: usize,
    /// With every word whole, if it is not longer than half of a line.
    least: usize,
}

impl Column {
    fn of(idx: usize, header: &[&str], rows: &[Vec<String>], room: usize) -> Self {
        let title = header[idx].width();
        let cells = || rows.iter().map(|row| row[idx].as_str());
        let widest = cells().flat_map(str::lines).map(str::width).max().unwrap_or(0);
        let word = cells().flat_map(str::split_whitespace).map(str::width).max().unwrap_or(0);
        Self { idx, natural: widest.max(title), least: word.min(room / 2).max(title) }
    }
}

/// Which columns stand beside each other, and which beneath.
fn divided(columns: &[Column], room: usize) -> (Vec<Column>, Vec<Column>) {
    let mut taken = 0;
    columns.iter().partition(|column| {
        let more = column.least + if column.idx == 0 { 0 } else { GAP };
        let fits = column.idx == 0 || taken + more <= room;
        taken += if fits { more } else { 0 };
        fits
    })
}

/// What every column needs, and what is left given to those that lack most.
fn widths(columns: &[Column], room: usize) -> Vec<usize> {
    let gaps = GAP * (columns.len() - 1);
    let natural: usize = columns.iter().map(|column| column.natural).sum();
    if natural.saturating_add(gaps) <= room {
        return columns.iter().map(|column| column.natural).collect();
    }
    let mut widths: Vec<usize> = columns.iter().map(|column| column.least).collect();
    let taken: usize = widths.iter().sum();
    for _ in taken..room.saturating_sub(gaps) {
        let lack = |idx: &usize| columns[*idx].natural.saturating_sub(widths[*idx]);
        let Some(idx) = (0..columns.len()).max_by_key(lack).filter(|idx| lack(idx) > 0) else { break };
        widths[idx] += 1;
    }
    widths
}

/// The lines of one row.
fn line(columns: &[Column], widths: &[usize], row: &[&str]) -> Vec<String> {
    let cells: Vec<Vec<String>> =
        columns.iter().zip(widths).map(|(column, width)| pieces(row[column.idx], *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    (0..height)
        .map(|number| {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(widths) {
                let piece = cell.get(number).map_or("", String::as_str);
                line.push_str(piece);
                line.push_str(&" ".repeat(width.saturating_sub(piece.width()) + GAP));
            }
            line.trim_end().to_owned()
        })
        .collect()
}

/// A cell in lines of this width. Only a word that is longer than that is broken.
fn pieces(text: &str, width: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut piece = String::new();
        for word in paragraph.split_whitespace() {
            if !piece.is_empty() && piece.width() + 1 + word.width() > width {
                pieces.push(std::mem::take(&mut piece));
            }
            if !piece.is_empty() {
                piece.push(' ');
            }
            for letter in word.chars() {
                if !piece.is_empty() && piece.width() + letter.to_string().width() > width {
                    pieces.push(std::mem::take(&mut piece));
                }
                piece.push(letter);
            }
        }
        pieces.push(piece);
    }
    pieces
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
    fn names_stay_whole_at_any_width() {
        for room in [None, Some(160), Some(80), Some(64), Some(50), Some(40)] {
            let drawn = table(room);
            for name in ["post_deployment_start", "another-task-with-a-name"] {
                assert!(drawn.contains(name), "{room:?}:\n{drawn}");
            }
            let is_narrow = |line: &str| room.is_none_or(|room| line.width() <= usize::from(room));
            assert!(drawn.lines().all(is_narrow), "{room:?}:\n{drawn}");
        }
    }

    #[test]
    fn what_has_no_room_stands_beneath_its_row() {
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
    fn hostile_cells_are_drawn() {
        for cell in ["", "\n", " \n\n", "äöü漢字漢字漢字", "x\u{301}".repeat(50).as_str()] {
            for room in [0, 1, 2, 5, 80] {
                let row = vec![cell.to_owned(), cell.to_owned()];
                draw(&["a", "title"], &[row], Some(room));
            }
        }
    }
}
