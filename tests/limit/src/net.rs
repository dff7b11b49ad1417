//! The kernel's receive stamps.

use crate::sys::nanos;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Asks for the kernel's receive stamps on a socket.
pub fn stamp_receives(socket: impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int that lives through the call.
    let rc = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Control messages, aligned as the kernel writes them.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Receives what is there, and the kernel's stamp (ns of the real-time clock) of the last segment of it.
pub fn receive_stamped(socket: impl AsFd, into: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut control = Control([0; 64]);
    let mut piece = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: all zeroes is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: the message points to buffers that outlive the call, with their true lengths.
    let n = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
    let filled = message.msg_controllen.min(control.0.len());
    Ok((n, stamp_in_control(&control.0[..filled])))
}

/// The stamp in the bytes of control messages.
pub fn stamp_in_control(mut control: &[u8]) -> Option<u64> {
    // Messages begin at multiples of the header's alignment, and their data after a header.
    let header_len = size_of::<libc::cmsghdr>();
    while control.len() >= header_len {
        // SAFETY: there are as many bytes as a header has, and any bytes are a valid one.
        let header: libc::cmsghdr = unsafe { control.as_ptr().cast::<libc::cmsghdr>().read_unaligned() };
        let len = header.cmsg_len;
        if len < header_len || len > control.len() {
            return None;
        }
        let is_stamp = header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_TIMESTAMPNS;
        if is_stamp && len >= header_len + size_of::<libc::timespec>() {
            // SAFETY: the message is long enough for a timespec, and any bytes are a valid one.
            let time = unsafe { control[header_len..].as_ptr().cast::<libc::timespec>().read_unaligned() };
            return Some(nanos(time)).filter(|&t| t > 0);
        }
        let next = len.next_multiple_of(size_of::<usize>()).min(control.len());
        control = &control[next..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = (size_of::<libc::cmsghdr>() + data.len()).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn finds_the_stamp_behind_other_messages() {
        let time = [3i64.to_ne_bytes(), 7i64.to_ne_bytes()].concat();
        let other = message(libc::SOL_SOCKET, libc::SCM_RIGHTS, &[1, 2, 3]);
        let stamp = message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS, &time);
        assert_eq!(stamp_in_control(&[other.clone(), stamp.clone()].concat()), Some(3_000_000_007));
        assert_eq!(stamp_in_control(&other), None);
        assert_eq!(stamp_in_control(&stamp[..20]), None);
        assert_eq!(stamp_in_control(&[0; 32]), None);
        assert_eq!(stamp_in_control(&[]), None);
    }
}
