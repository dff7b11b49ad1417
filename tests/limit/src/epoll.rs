//! epoll with time limits in ns.

use crate::sys::timespec;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// What a descriptor is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Bytes to read, or the end.
    Read,
    /// That, or room to write.
    ReadWrite,
}

/// A descriptor that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What it was added with.
    pub token: u64,
    /// There is something to read, or the other side is gone.
    pub readable: bool,
    /// There is room to write.
    pub writable: bool,
}

/// An epoll instance and room for what it tells.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Epoll {
    /// One that tells of `capacity` descriptors at once.
    pub fn new(capacity: usize) -> io::Result<Epoll> {
        // SAFETY: takes a number only.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and ours.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Epoll { fd, events: vec![libc::epoll_event { events: 0, u64: 0 }; capacity] })
    }

    /// Watches a descriptor until it is closed.
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, interest)
    }

    /// Watches it for something else.
    pub fn change(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, interest)
    }

    fn control(&self, op: libc::c_int, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let events = match interest {
            Interest::Read => libc::EPOLLIN,
            Interest::ReadWrite => libc::EPOLLIN | libc::EPOLLOUT,
        };
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: both descriptors are open and the event lives through the call.
        let rc = unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), op, fd.as_fd().as_raw_fd(), &raw mut event) };
        if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Waits for `ns` at most; how many are ready, to be had by [`Epoll::ready`]. An interrupted wait has none.
    pub fn wait(&mut self, ns: u64) -> io::Result<usize> {
        let limit = timespec(ns);
        // SAFETY: the buffer has room for as many events as the call is told, and the limit lives through it.
        let n = unsafe {
            libc::epoll_pwait2(
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                &raw const limit,
                std::ptr::null(),
            )
        };
        usize::try_from(n).or_else(|_| {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) }
        })
    }

    /// The `i`-th descriptor of the last wait.
    #[inline]
    pub fn ready(&self, i: usize) -> Ready {
        let event = self.events[i];
        let events = event.events as libc::c_int;
        Ready {
            token: event.u64,
            readable: events & (libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLERR) != 0,
            writable: events & libc::EPOLLOUT != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn tells_what_is_ready() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut epoll = Epoll::new(4).unwrap();
        epoll.add(&theirs, 7, Interest::Read).unwrap();
        assert_eq!(epoll.wait(0).unwrap(), 0);
        ours.write_all(b"x").unwrap();
        assert_eq!(epoll.wait(u64::from(u32::MAX)).unwrap(), 1);
        assert_eq!(epoll.ready(0), Ready { token: 7, readable: true, writable: false });
        epoll.change(&theirs, 8, Interest::ReadWrite).unwrap();
        assert_eq!(epoll.wait(0).unwrap(), 1);
        assert_eq!(epoll.ready(0), Ready { token: 8, readable: true, writable: true });
    }
}
