//! How vertices look: in each picture by colour and by something that is no colour.

/// What a vertex is, or in which state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Looks {
    // Definitions.
    Task,
    Group,
    Stage,
    SkippedTask,
    /// A name that nothing is known of but that others mention it.
    Unknown,
    // Instances.
    Pending,
    /// It will be passed over.
    ToSkip,
    Ready,
    Running,
    Successful,
    Failed,
    DependencyFailed,
    Skipped,
}

/// What surrounds the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Rounded,
    Box,
    /// A box with two lines around it.
    Double,
    Hexagon,
}

pub(crate) struct Style {
    /// In the legend.
    pub(crate) word: &'static str,
    /// The attributes in DOT that orchestrators and their users know.
    pub(crate) dot: &'static str,
    pub(crate) shape: Shape,
    pub(crate) is_dashed: bool,
    /// Before the label, where there is one.
    pub(crate) mark: &'static str,
    /// Fill and border by day and by night.
    pub(crate) light: (&'static str, &'static str),
    pub(crate) dark: (&'static str, &'static str),
    /// The name of the class in SVG and Mermaid.
    pub(crate) class: &'static str,
}

impl Looks {
    pub(crate) const ALL: [Self; 13] = [
        Self::Task,
        Self::Group,
        Self::Stage,
        Self::SkippedTask,
        Self::Unknown,
        Self::Pending,
        Self::ToSkip,
        Self::Ready,
        Self::Running,
        Self::Successful,
        Self::Failed,
        Self::DependencyFailed,
        Self::Skipped,
    ];

    pub(crate) fn style(self) -> Style {
        let style = |word, class, dot, mark, light, dark| Style {
            word,
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
            Self::ToSkip => Style {
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
