//! What /proc tells of processes and of the sockets that they listen on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A process, told apart from a later one of the same number by its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessId {
    pub(crate) pid: i32,
    /// Clock ticks since boot.
    start: u64,
}

struct Stat {
    id: ProcessId,
    parent: i32,
    group: i32,
    zombie: bool,
}

fn stat(pid: i32) -> Option<Stat> {
    parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Fields of proc_pid_stat(5); the name, in brackets, may hold anything.
fn parse_stat(pid: i32, text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_whitespace().collect();
    Some(Stat {
        id: ProcessId { pid, start: fields.get(19)?.parse().ok()? },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

fn all() -> Vec<Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The process runs still: it is neither gone nor dead and unburied.
pub(crate) fn runs(id: ProcessId) -> bool {
    stat(id.pid).is_some_and(|stat| stat.id == id && !stat.zombie)
}

/// Every process that came of `root`: its group, its descendants, and those that carry `marker` (`NAME=value`) in
/// their environment, wherever they hid.
pub(crate) fn family(root: i32, marker: &str) -> BTreeSet<ProcessId> {
    let all = all();
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for stat in &all {
        children.entry(stat.parent).or_default().push(stat.id.pid);
    }
    let mut descendants = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if descendants.insert(*child) {
                open.push(*child);
            }
        }
    }
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    all.iter()
        .filter(|stat| !stat.zombie && stat.id.pid != own)
        .filter(|stat| {
            stat.group == root || descendants.contains(&stat.id.pid) || has_marker(stat.id.pid, marker.as_bytes())
        })
        .map(|stat| stat.id)
        .collect()
}

fn has_marker(pid: i32, marker: &[u8]) -> bool {
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|variable| variable == marker)
}

/// This process, for making markers that no other run uses.
pub(crate) fn own_start() -> u64 {
    i32::try_from(std::process::id()).ok().and_then(stat).map_or(0, |stat| stat.id.start)
}

/// A listening TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) addr: IpAddr,
    pub(crate) port: u16,
    pub(crate) inode: u64,
}

/// All sockets that listen on a port.
pub(crate) fn listeners(port: u16) -> Vec<Listener> {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .flat_map(|path| parse_sockets(&fs::read_to_string(path).unwrap_or_default()))
        .filter(|listener| listener.port == port)
        .collect()
}

/// Lines of proc_net_tcp: `sl local remote state ...`, state 0A = listening, inode in the tenth column. Addresses are
/// words in the machine's byte order, printed in hexadecimal.
fn parse_sockets(text: &str) -> Vec<Listener> {
    text.lines().skip(1).filter_map(parse_socket).collect()
}

fn parse_socket(line: &str) -> Option<Listener> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if *fields.get(3)? != "0A" {
        return None;
    }
    let (addr, port) = fields.get(1)?.split_once(':')?;
    let mut bytes = Vec::new();
    for at in (0..addr.len()).step_by(8) {
        bytes.extend(u32::from_str_radix(addr.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    }
    let addr = match bytes.len() {
        4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
    };
    let inode = fields.get(9)?.parse().ok()?;
    Some(Listener { addr, port: u16::from_str_radix(port, 16).ok()?, inode })
}

/// Whether a process holds the socket.
pub(crate) fn holds(pid: i32, inode: u64) -> bool {
    let link = format!("socket:[{inode}]");
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|target| target.to_str() == Some(&link))
}

/// Who holds the socket, for people: `program (pid 7)`, where that can be seen.
pub(crate) fn holder(inode: u64) -> Option<String> {
    let pid = all().iter().map(|stat| stat.id.pid).find(|pid| holds(*pid, inode))?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("`{}` (pid {pid})", name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn stat_lines_with_brackets_in_the_name() {
        let text = "7 (a) b (c)) S 1 5 5 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1";
        let stat = parse_stat(7, text).unwrap();
        assert_eq!((stat.parent, stat.group, stat.id.start, stat.zombie), (1, 5, 12345, false));
        assert!(parse_stat(7, "7 (a) Z 1 5 5 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1").unwrap().zombie);
        assert!(parse_stat(7, "").is_none());
    }

    #[test]
    fn own_listeners_are_found_with_address_and_holder() {
        let own = i32::try_from(std::process::id()).unwrap();
        for host in ["127.0.0.1", "[::1]"] {
            let Ok(socket) = TcpListener::bind(format!("{host}:0")) else { continue };
            let addr = socket.local_addr().unwrap();
            let found: Vec<_> = listeners(addr.port()).into_iter().filter(|l| l.addr == addr.ip()).collect();
            assert_eq!(found.len(), 1, "{addr}");
            assert!(holds(own, found[0].inode));
            assert!(holder(found[0].inode).unwrap().contains(&format!("(pid {own})")));
            drop(socket);
            assert!(!listeners(addr.port()).iter().any(|l| l.addr == addr.ip()));
        }
    }
}
