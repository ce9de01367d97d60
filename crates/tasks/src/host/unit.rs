//! Units of systemd.

use std::fmt;

/// State of a unit, as systemd reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitState {
    /// `loaded`, `not-found`, `masked`, …
    pub load: String,
    /// `active`, `inactive`, `failed`, `activating`, …
    pub active: String,
    /// `enabled`, `disabled`, `static`, `masked`, …; empty if there is no unit file.
    pub file: String,
    /// Whether files of the unit changed after systemd read them.
    pub needs_reload: bool,
}

/// A change of one unit. Changes of the active state wait for their job, and `Start`, `Restart` and `Reload` also until the
/// unit is active or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitChange {
    Start,
    Stop,
    Restart,
    /// Reloads the configuration; a unit that cannot reload is restarted.
    Reload,
    Enable,
    Disable,
    Mask,
    Unmask,
}

impl fmt::Display for UnitChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Reload => "reload",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Mask => "mask",
            Self::Unmask => "unmask",
        })
    }
}
