//! Conventional number ranges.

/// Ranges of stage numbers by convention of plugin authors; not enforced.
///
/// The original design and its revision swap the meaning of the 5000s and the 6000s; both are classified as
/// software here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberRange {
    /// Numbers below 0: tasks that run before all others.
    First,
    Hardware,
    Disks,
    Network,
    Software,
    Monitoring,
    /// Numbers in the 1000s, 3000s and 7000s.
    Reserved,
    /// Numbers from 9000.
    Unassigned,
}

impl NumberRange {
    pub fn for_number(number: f64) -> Self {
        match number {
            _ if number < 0.0 => Self::First,
            _ if number < 1000.0 => Self::Hardware,
            _ if number < 2000.0 => Self::Reserved,
            _ if number < 3000.0 => Self::Disks,
            _ if number < 4000.0 => Self::Reserved,
            _ if number < 5000.0 => Self::Network,
            _ if number < 7000.0 => Self::Software,
            _ if number < 8000.0 => Self::Reserved,
            _ if number < 9000.0 => Self::Monitoring,
            _ => Self::Unassigned,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Hardware => "hardware",
            Self::Disks => "disks",
            Self::Network => "network",
            Self::Software => "software",
            Self::Monitoring => "monitoring",
            Self::Reserved => "reserved",
            Self::Unassigned => "unassigned",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_half_open() {
        for (number, expected) in [
            (-0.5, "first"),
            (0.0, "hardware"),
            (999.5, "hardware"),
            (1000.0, "reserved"),
            (2000.0, "disks"),
            (3999.0, "reserved"),
            (4000.0, "network"),
            (5000.0, "software"),
            (6999.9, "software"),
            (7000.0, "reserved"),
            (8000.0, "monitoring"),
            (9000.0, "unassigned"),
        ] {
            assert_eq!(NumberRange::for_number(number).as_str(), expected, "{number}");
        }
    }
}
