//! `/etc/fstab` and `/proc/self/mountinfo`.

use super::spec::FileSystem;

/// A mounted file system, as the kernel reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    pub(super) source: String,
    pub(super) fstype: String,
    /// Options of the mount and of the file system.
    pub(super) options: Vec<String>,
}

/// Returns what is mounted at a path. Of several mounts the last one is visible.
pub(super) fn mounted_at(mountinfo: &str, path: &str) -> Option<Mounted> {
    mountinfo.lines().rev().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let right: Vec<&str> = right.split(' ').collect();
        let (point, options) = (decode(left.get(4)?), left.get(5)?);
        let (fstype, source) = (right.first()?, right.get(1)?);
        let all = options.split(',').chain(right.get(2).into_iter().flat_map(|options| options.split(',')));
        (point == path).then(|| Mounted {
            source: decode(source),
            fstype: (*fstype).to_owned(),
            options: all.map(str::to_owned).collect(),
        })
    })
}

/// Returns the table with exactly one line for a mount point, or none.
pub(super) fn edit(fstab: &str, path: &str, desired: Option<&FileSystem>) -> String {
    let desired = desired.map(|desired| line(path, desired));
    let mut lines = Vec::new();
    let mut is_written = false;
    for current in fstab.lines() {
        if point_of(current).as_deref() != Some(path) {
            lines.push(current);
        } else if let Some(desired) = desired.as_ref().filter(|_| !is_written) {
            is_written = true;
            // A line that differs only in white space stays.
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            lines.push(if words(current) == words(desired) { current } else { desired });
        }
    }
    if let Some(desired) = desired.as_ref().filter(|_| !is_written) {
        lines.push(desired);
    }
    if lines == fstab.lines().collect::<Vec<_>>() {
        return fstab.to_owned();
    }
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

fn line(path: &str, file_system: &FileSystem) -> String {
    let FileSystem { source, fstype, options, passno } = file_system;
    format!("{} {} {fstype} {options} 0 {passno}", encode(source), encode(path))
}

fn point_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    if line.starts_with('#') {
        return None;
    }
    line.split_whitespace().nth(1).map(decode)
}

/// White space and backslashes are written as octal numbers in both tables.
fn encode(text: &str) -> String {
    text.replace('\\', "\\134")
        .replace(' ', "\\040")
        .replace('\t', "\\011")
        .replace('\n', "\\012")
        .replace('#', "\\043")
}

fn decode(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\")];
    escapes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found() {
        let info = "22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n\
                    30 22 0:25 / /srv/my\\040data rw,nodev - ext4 /dev/sdb1 rw\n\
                    31 22 0:26 / /srv/my\\040data ro,noexec - tmpfs tmpfs rw,size=4k\n";
        let found = mounted_at(info, "/srv/my data").expect("a mount");
        assert_eq!((&*found.source, &*found.fstype), ("tmpfs", "tmpfs"));
        assert_eq!(found.options, ["ro", "noexec", "rw", "size=4k"]);
        assert_eq!(mounted_at(info, "/").expect("a mount").source, "/dev/sda1");
        assert_eq!(mounted_at(info, "/srv"), None);
    }

    #[test]
    fn the_table_is_edited() {
        let data = FileSystem {
            source: "/dev/b".to_owned(),
            fstype: "ext4".to_owned(),
            options: "noatime".to_owned(),
            passno: 2,
        };
        let line = "/dev/b /srv/d ext4 noatime 0 2\n";
        for (text, desired, expected) in [
            ("", Some(&data), line.to_owned()),
            (
                "# x\n/dev/a / ext4 defaults 0 1",
                Some(&data),
                format!("# x\n/dev/a / ext4 defaults 0 1\n{line}"),
            ),
            ("/dev/z /srv/d xfs ro 0 0\n/dev/y /srv/d xfs ro 0 0\n", Some(&data), line.to_owned()),
            ("/dev/b\t/srv/d ext4 noatime 0 2", Some(&data), "/dev/b\t/srv/d ext4 noatime 0 2".to_owned()),
            ("#/dev/b /srv/d ext4\n", None, "#/dev/b /srv/d ext4\n".to_owned()),
            ("/dev/b /srv/d ext4\n", None, String::new()),
        ] {
            let edited = edit(text, "/srv/d", desired);
            assert_eq!(edited, expected, "{text}");
            assert_eq!(edit(&edited, "/srv/d", desired), edited);
        }
        assert_eq!(edit("", "/a b", Some(&data)), "/dev/b /a\\040b ext4 noatime 0 2\n");
        assert_eq!(edit("/dev/b /a\\040b ext4\n", "/a b", None), "");
    }
}
