//! Output of the SVG document.

use std::fmt::{self, Formatter, Write as _};

use super::layers::Layers;
use super::positions::{BOX_HEIGHT, MARGIN, Positions};
use super::text::{self, Escaped};
use crate::appearance::{Appearance, Shape, Style};
use crate::drawing::{Diagram, Vertex};

/// Height of a text line above the diagram.
const LINE_HEIGHT: f64 = 24.0;
const LEGEND_BOX: f64 = 22.0;

pub(super) fn document(
    f: &mut Formatter<'_>,
    drawing: &Diagram,
    layers: &Layers,
    positions: &Positions,
) -> fmt::Result {
    let used: Vec<Style> = Appearance::ALL
        .iter()
        .filter(|looks| drawing.vertices.iter().any(|vertex| vertex.appearance == **looks))
        .map(|looks| looks.style())
        .collect();
    let note = note(drawing, layers);
    let (legend, legend_width) = legend(&used)?;
    let note_width = text::width(&note) + 2.0 * MARGIN;
    let width = positions.total_width.max(legend_width).max(note_width);
    let n_lines = 1 + usize::from(!note.is_empty()) + usize::from(!positions.lanes.is_empty());
    let top = MARGIN / 2.0 + n_lines as f64 * LINE_HEIGHT;
    let height = positions.total_height + top;
    writeln!(
        f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"title\">"
    )?;
    writeln!(f, "<title id=\"title\">{}</title>", Escaped(&drawing.title))?;
    write_style(f, &used)?;
    writeln!(f, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>")?;
    f.write_str(&legend)?;
    if !note.is_empty() {
        let y = MARGIN / 2.0 + LINE_HEIGHT * 1.7;
        writeln!(f, "<text class=\"note\" x=\"{MARGIN}\" y=\"{y:.1}\">{}</text>", Escaped(&note))?;
    }
    writeln!(f, "<g transform=\"translate(0 {top:.1})\">")?;
    write_lanes(f, positions)?;
    write_edges(f, drawing, layers, positions)?;
    for (vertex_idx, vertex) in drawing.vertices.iter().enumerate() {
        let (x, y, width) = (positions.x[vertex_idx], positions.y[vertex_idx], positions.width[vertex_idx]);
        write_vertex(f, vertex, x, y, width)?;
    }
    f.write_str("</g>\n</svg>\n")
}

/// Returns a note about omitted parts.
fn note(drawing: &Diagram, layers: &Layers) -> String {
    let mut notes: Vec<String> = drawing.omission_note().into_iter().collect();
    let edges = |n_edges: usize| format!("{n_edges} {}", if n_edges == 1 { "edge" } else { "edges" });
    if layers.n_too_many > 0 {
        notes.push(format!("{} not drawn because there are too many", edges(layers.n_too_many)));
    }
    if layers.n_implied > 0 {
        notes.push(format!("{} implied by others not drawn", edges(layers.n_implied)));
    }
    notes.join("; ")
}

fn write_style(f: &mut Formatter<'_>, used: &[Style]) -> fmt::Result {
    f.write_str(
        "<style>\n\
         text { font: 12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif; fill: #1a1a1a; }\n\
         .paper { fill: #ffffff; } .lane { fill: #f6f8fa; } .name { font-weight: 600; } .note { font-style: italic; }\n\
         .edge { fill: none; stroke: #7b8794; stroke-width: 1.2; } .tip { fill: #7b8794; }\n\
         .box { stroke-width: 1.4; } .dashed { stroke-dasharray: 4 3; }\n",
    )?;
    for style in used {
        writeln!(f, ".{} {{ fill: {}; stroke: {}; }}", style.class, style.light.0, style.light.1)?;
    }
    f.write_str(
        "@media (prefers-color-scheme: dark) {\n\
         text { fill: #e8e8e8; } .paper { fill: #16191d; } .lane { fill: #1d2228; }\n\
         .edge { stroke: #76828f; } .tip { fill: #76828f; }\n",
    )?;
    for style in used {
        writeln!(f, ".{} {{ fill: {}; stroke: {}; }}", style.class, style.dark.0, style.dark.1)?;
    }
    f.write_str("}\n</style>\n")?;
    f.write_str(
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path class=\"tip\" d=\"M0 0 L8 4 L0 8 Z\"/></marker></defs>\n",
    )
}

/// Returns one line that explains shapes and marks, and its width.
fn legend(used: &[Style]) -> Result<(String, f64), fmt::Error> {
    let mut out = String::from("<g>\n");
    let (mut x, y) = (MARGIN, MARGIN / 2.0 + LINE_HEIGHT / 2.0);
    for style in used {
        write_shape(&mut out, style, x + LEGEND_BOX / 2.0, y, LEGEND_BOX, 14.0)?;
        if !style.mark.is_empty() {
            let middle = x + LEGEND_BOX / 2.0;
            let mark = Escaped(style.mark);
            writeln!(
                out,
                "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{mark}</text>",
                y + 4.0
            )?;
        }
        writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + LEGEND_BOX + 6.0,
            y + 4.0,
            style.legend_text
        )?;
        x += LEGEND_BOX + 6.0 + text::width(style.legend_text) + 18.0;
    }
    out.push_str("</g>\n");
    Ok((out, x + MARGIN))
}

fn write_lanes(f: &mut Formatter<'_>, positions: &Positions) -> fmt::Result {
    for (name, left, right) in &positions.lanes {
        let (x, width, height) = (left - 10.0, right - left + 20.0, positions.total_height - MARGIN / 2.0);
        writeln!(
            f,
            "<rect class=\"lane\" x=\"{x:.1}\" y=\"0\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"/>"
        )?;
        let middle = f64::midpoint(*left, *right);
        let name = Escaped(name);
        writeln!(f, "<text class=\"name\" x=\"{middle:.1}\" y=\"-8\" text-anchor=\"middle\">{name}</text>")?;
    }
    Ok(())
}

fn write_edges(
    f: &mut Formatter<'_>,
    drawing: &Diagram,
    layers: &Layers,
    positions: &Positions,
) -> fmt::Result {
    for cells in &layers.edges {
        let [first, .., last] = cells[..] else { continue };
        let (mut x, mut y) = (positions.x[first as usize], positions.y[first as usize] + BOX_HEIGHT / 2.0);
        let mut path = format!("M{x:.1} {y:.1}");
        for cell in &cells[1..] {
            let (to_x, top) = (positions.x[*cell as usize], positions.y[*cell as usize] - BOX_HEIGHT / 2.0);
            let middle = f64::midpoint(y, top);
            write!(path, " C{x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {top:.1}")?;
            (x, y) = (to_x, top);
            if *cell != last {
                y += BOX_HEIGHT;
                write!(path, " L{x:.1} {y:.1}")?;
            }
        }
        let name = |cell: u32| drawing.vertices.get(cell as usize).map_or("", |vertex| vertex.label.as_str());
        let (before, after) = (Escaped(name(first)), Escaped(name(last)));
        writeln!(
            f,
            "<path class=\"edge\" marker-end=\"url(#tip)\" d=\"{path}\"><title>{before} → {after}</title></path>"
        )?;
    }
    Ok(())
}

fn write_vertex(f: &mut Formatter<'_>, vertex: &Vertex, x: f64, y: f64, width: f64) -> fmt::Result {
    let style = vertex.appearance.style();
    let (id, cluster) = (Escaped(&vertex.label), vertex.cluster.as_deref().unwrap_or_default());
    let on = if cluster.is_empty() { "" } else { " on " };
    writeln!(f, "<g><title>{id}{on}{}: {}</title>", Escaped(cluster), style.legend_text)?;
    write_shape(f, &style, x, y, width, BOX_HEIGHT)?;
    let label = text::label(vertex);
    let label = Escaped(&label);
    writeln!(f, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text></g>", y + 4.2)
}

fn write_shape(
    out: &mut dyn fmt::Write,
    style: &Style,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
) -> fmt::Result {
    let (left, top, right, bottom) = (x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0);
    let class = format!("box {}{}", style.class, if style.is_dashed { " dashed" } else { "" });
    let mut rect = |inset: f64, radius: f64| {
        writeln!(
            out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius}\"/>",
            left + inset,
            top + inset,
            width - 2.0 * inset,
            height - 2.0 * inset
        )
    };
    match style.shape {
        Shape::Rounded => rect(0.0, 7.0),
        Shape::Box => rect(0.0, 0.0),
        Shape::Double => {
            rect(0.0, 3.0)?;
            rect(3.0, 2.0)
        }
        Shape::Hexagon => {
            let cut = height / 3.0;
            let (inner_left, inner_right) = (left + cut, right - cut);
            writeln!(
                out,
                "<path class=\"{class}\" d=\"M{inner_left:.1} {top:.1} L{inner_right:.1} {top:.1} L{right:.1} {y:.1} \
                 L{inner_right:.1} {bottom:.1} L{inner_left:.1} {bottom:.1} L{left:.1} {y:.1} Z\"/>"
            )
        }
    }
}
