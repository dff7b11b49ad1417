//! The few system calls that no safe crate offers, and thin names for others.

use bench_core::clock::Nanos;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

/// The real-time clock, ns since the epoch.
pub(crate) fn realtime() -> u64 {
    nanos(clock_gettime(ClockId::Realtime))
}

/// CPU time that this thread has used.
pub(crate) fn thread_cpu() -> Nanos {
    Nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

fn nanos(t: rustix::time::Timespec) -> u64 {
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Asks for the kernel's receive stamps on a socket.
pub(crate) fn stamp_receives(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int that lives through the call.
    let rc = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
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
struct ControlBuffer([MaybeUninit<u8>; 64]);

/// Receives bytes, and the kernel's stamp (ns of the real-time clock) of the last segment among them.
///
/// The first returned number is how many bytes of `into`, from its start, are now filled.
pub(crate) fn receive_stamped(
    socket: BorrowedFd<'_>,
    into: &mut [MaybeUninit<u8>],
) -> io::Result<(usize, Option<u64>)> {
    let mut control = ControlBuffer([MaybeUninit::uninit(); 64]);
    let mut piece = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: all zeroes is a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: the message points to buffers that outlive the call, with their true lengths.
    let n = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
    let mut stamp = None;
    // SAFETY: the kernel filled `msg_controllen` bytes of control messages; the macros walk within them,
    // and a SCM_TIMESTAMPNS message holds a timespec (read unaligned).
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_TIMESTAMPNS {
                let t: libc::timespec = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
                stamp = Some(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64).filter(|&s| s > 0);
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    Ok((n, stamp))
}

/// Lets this process hold as many files as its hard limit allows; how many those are.
pub(crate) fn raise_file_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    now.unwrap_or(u64::MAX)
}

/// Keeps the kernel's receive stamps on while it lives.
#[derive(Debug)]
pub(crate) struct StampsOn {
    _socket: Option<UdpSocket>,
}

/// Turns the kernel's receive stamps on and waits, 100 ms at most, until they are: the kernel turns them
/// on some time after the first socket asks, and off with the last, and what arrives meanwhile has none.
pub(crate) fn turn_stamps_on() -> StampsOn {
    StampsOn { _socket: stamping_socket().ok() }
}

fn stamping_socket() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    stamp_receives(socket.as_fd())?;
    socket.set_read_timeout(Some(Duration::from_millis(1)))?;
    socket.connect(socket.local_addr()?)?;
    for _ in 0..100 {
        socket.send(b"?")?;
        let mut byte = [MaybeUninit::uninit()];
        match receive_stamped(socket.as_fd(), &mut byte) {
            Ok((_, Some(_))) => break,
            Ok((_, None)) => std::thread::sleep(Duration::from_millis(1)),
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(socket)
}
