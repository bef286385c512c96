//! The memory that this process may use: the machine's, or less where a control group limits it.
//!
//! Invariant: whatever these files hold, this never fails; what cannot be read is no limit.

use std::fs;
use std::path::Path;

/// In bytes; `None` where the system does not tell.
pub(super) fn available() -> Option<u64> {
    available_below(Path::new("/"))
}

fn available_below(root: &Path) -> Option<u64> {
    let machine = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| total(&text));
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    groups.lines().filter_map(|line| group_limit(root, line)).chain(machine).min()
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The lowest limit of a control group and those that it is in. A container sees its own group as
/// the root, under the name that it has outside or none.
fn group_limit(root: &Path, line: &str) -> Option<u64> {
    let (_, line) = line.split_once(':')?;
    let (controllers, group) = line.split_once(':')?;
    let (mount, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|one| one == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let group = Path::new(group.trim_start_matches('/'));
    let limit = |part: &Path| {
        let text = fs::read_to_string(root.join(mount).join(part).join(file)).ok()?;
        text.trim().parse().ok()
    };
    group.ancestors().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        available_below(root.path())
    }

    const MEMINFO: (&str, &str) =
        ("proc/meminfo", "MemTotal:        2000 kB\nMemFree:          10 kB\n");

    #[test]
    fn the_lowest_limit_counts_wherever_it_is() {
        let v2 = ("proc/self/cgroup", "0::/system.slice/kurz.service\n");
        let v1 = ("proc/self/cgroup", "9:cpu,cpuacct:/x\n4:memory:/docker/1\n");
        let own = "sys/fs/cgroup/system.slice/kurz.service/memory.max";
        let slice = "sys/fs/cgroup/system.slice/memory.max";
        for (files, expected) in [
            (&[][..], None),
            (&[("proc/meminfo", "nothing")], None),
            (&[MEMINFO], Some(2_048_000)),
            (&[MEMINFO, v2], Some(2_048_000)),
            (&[MEMINFO, v2, (own, "max\n")], Some(2_048_000)),
            (&[MEMINFO, v2, (own, "max\n"), (slice, "5000\n")], Some(5000)),
            (&[MEMINFO, v2, (own, "7000\n"), (slice, "9000\n")], Some(7000)),
            // In a container the own group is the root of what is mounted.
            (&[MEMINFO, v2, ("sys/fs/cgroup/memory.max", "6000\n")], Some(6000)),
            (&[MEMINFO, v1, ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000\n")], Some(4000)),
            (
                &[MEMINFO, v1, ("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "3000\n")],
                Some(3000),
            ),
            (&[v2, (own, "99999999999999999999999\n")], None),
        ] {
            assert_eq!(machine(files), expected, "{files:?}");
        }
    }
}
