//! Appearance of vertices. Colour is always combined with a second feature such as shape or mark.

/// The type or the state of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Appearance {
    // Appearances of task definitions.
    Task,
    Group,
    Stage,
    SkippedTask,
    /// A name without a definition to which other tasks refer.
    Unknown,
    // Appearances of task instances.
    Pending,
    /// A task instance that will be skipped.
    WillSkip,
    Ready,
    Running,
    Successful,
    Failed,
    DependencyFailed,
    Skipped,
}

/// The outline around the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Rounded,
    Box,
    /// A box with a double border.
    Double,
    Hexagon,
}

pub(crate) struct Style {
    /// Legend text.
    pub(crate) legend_text: &'static str,
    /// DOT attributes, compatible with Fuel.
    pub(crate) dot: &'static str,
    pub(crate) shape: Shape,
    pub(crate) is_dashed: bool,
    /// Prefix of the label; may be empty.
    pub(crate) mark: &'static str,
    /// Fill and border colours of the light and the dark theme.
    pub(crate) light: (&'static str, &'static str),
    pub(crate) dark: (&'static str, &'static str),
    /// CSS class in SVG and class in Mermaid.
    pub(crate) class: &'static str,
}

impl Appearance {
    pub(crate) const ALL: [Self; 13] = [
        Self::Task,
        Self::Group,
        Self::Stage,
        Self::SkippedTask,
        Self::Unknown,
        Self::Pending,
        Self::WillSkip,
        Self::Ready,
        Self::Running,
        Self::Successful,
        Self::Failed,
        Self::DependencyFailed,
        Self::Skipped,
    ];

    pub(crate) fn style(self) -> Style {
        let style = |legend_text, class, dot, mark, light, dark| Style {
            legend_text,
            dot,
            shape: Shape::Rounded,
            is_dashed: false,
            mark,
            light,
            dark,
            class,
        };
        let grey = (("#f2f2f2", "#8a8a8a"), ("#2b2b2b", "#7d7d7d"));
        match self {
            Self::Task => style(
                "task",
                "task",
                "color=yellowgreen, style=filled",
                "",
                ("#dcedb4", "#6b8e23"),
                ("#35491a", "#9acd32"),
            ),
            Self::Group => Style {
                shape: Shape::Double,
                ..style(
                    "group",
                    "group",
                    "color=lightskyblue, shape=box, style=\"filled, rounded\"",
                    "",
                    ("#d6ecfd", "#3a86b8"),
                    ("#173b54", "#87cefa"),
                )
            },
            Self::Stage => Style {
                shape: Shape::Hexagon,
                ..style(
                    "stage",
                    "stage",
                    "color=red, shape=rect, style=filled",
                    "",
                    ("#fbd5d0", "#c0392b"),
                    ("#581d17", "#ff8a7a"),
                )
            },
            Self::SkippedTask => Style {
                is_dashed: true,
                ..style("skipped task", "skipped-task", "color=gray95", "", grey.0, grey.1)
            },
            Self::Unknown => Style {
                shape: Shape::Box,
                is_dashed: true,
                ..style("unknown name", "unknown", "", "?", ("#ffffff", "#8a8a8a"), ("#1e1e1e", "#8a8a8a"))
            },
            Self::Pending => style(
                "pending",
                "pending",
                "fillcolor=white, style=filled",
                "",
                ("#ffffff", "#4a5568"),
                ("#232a33", "#a7b3c2"),
            ),
            Self::WillSkip => Style {
                is_dashed: true,
                ..style(
                    "will be skipped",
                    "to-skip",
                    "fillcolor=magenta, style=filled",
                    "–",
                    ("#f7ebf7", "#a05aa0"),
                    ("#33243a", "#c78bd1"),
                )
            },
            Self::Ready => style(
                "ready",
                "ready",
                "fillcolor=yellow, style=filled",
                "○",
                ("#fff7c2", "#a68a00"),
                ("#473d0a", "#f0d53c"),
            ),
            Self::Running => Style {
                shape: Shape::Double,
                ..style(
                    "running",
                    "running",
                    "fillcolor=blue, style=filled",
                    "▶",
                    ("#cfe0ff", "#1f5fd1"),
                    ("#16305f", "#7eabff"),
                )
            },
            Self::Successful => style(
                "successful",
                "successful",
                "fillcolor=green, style=filled",
                "✓",
                ("#d3f2d8", "#1e7d34"),
                ("#173f21", "#6fd48a"),
            ),
            Self::Failed => Style {
                shape: Shape::Box,
                ..style(
                    "failed",
                    "failed",
                    "fillcolor=red, style=filled",
                    "✗",
                    ("#ffd4d4", "#b71c1c"),
                    ("#581717", "#ff8080"),
                )
            },
            Self::DependencyFailed => Style {
                shape: Shape::Box,
                is_dashed: true,
                ..style(
                    "dependency failed",
                    "dependency-failed",
                    "fillcolor=orange, style=filled",
                    "!",
                    ("#ffe6c7", "#b35c00"),
                    ("#4f3210", "#ffb45c"),
                )
            },
            Self::Skipped => Style {
                is_dashed: true,
                ..style(
                    "skipped",
                    "skipped",
                    "fillcolor=violet, style=filled",
                    "–",
                    ("#f0e4fb", "#7b4fa8"),
                    ("#33244a", "#c3a1e8"),
                )
            },
        }
    }
}
