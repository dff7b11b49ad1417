//! The few system calls that no safe crate offers, and thin names for others.

use bench_core::clock::Nanos;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
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
    // SAFETY: the kernel filled this many bytes of the buffer.
    let filled = unsafe { std::slice::from_raw_parts(control.0.as_ptr().cast(), message.msg_controllen as usize) };
    Ok((n, stamp_in(filled)))
}

/// The receive stamp (ns of the real-time clock) among control messages, as the kernel writes them.
pub(crate) fn stamp_in(control: &[u8]) -> Option<u64> {
    const HEADER: usize = size_of::<libc::cmsghdr>();
    let mut rest = control;
    while let Some((header, _)) = rest.split_at_checked(HEADER) {
        let number = |at: usize| header[at..at + 4].try_into().map(i32::from_ne_bytes).ok();
        let size = usize::from_ne_bytes(header[..8].try_into().ok()?);
        let data = rest.get(HEADER..size)?;
        if (number(8)?, number(12)?) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
            let word = |at: usize| data.get(at..at + 8)?.try_into().map(u64::from_ne_bytes).ok();
            return Some(word(0)? * 1_000_000_000 + word(8)?).filter(|&stamp| stamp > 0);
        }
        rest = rest.get(size.next_multiple_of(8)..)?;
    }
    None
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

/// Sends two pieces of bytes one after the other, as far as the socket takes them without waiting.
pub(crate) fn send_both(socket: BorrowedFd<'_>, first: &[u8], second: &[u8]) -> io::Result<usize> {
    use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
    let pieces = [io::IoSlice::new(first), io::IoSlice::new(second)];
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    Ok(sendmsg(socket, &pieces, &mut SendAncillaryBuffer::default(), flags)?)
}

/// Lets this thread's timers be exact: by default the kernel may be 50 µs late to save power.
pub(crate) fn exact_timers() {
    // SAFETY: the call takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Begins to connect; whether it is connected already, as on this machine it mostly is.
pub(crate) fn connect(to: SocketAddr) -> io::Result<(OwnedFd, bool)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    // Where the kernel has no stamps, reads are marked so.
    let _ = stamp_receives(socket.as_fd());
    match connect(&socket, &to) {
        Ok(()) => Ok((socket, true)),
        Err(Errno::INPROGRESS) => match connect(&socket, &to) {
            Ok(()) | Err(Errno::ISCONN) => Ok((socket, true)),
            Err(Errno::ALREADY | Errno::INPROGRESS) => Ok((socket, false)),
            Err(e) => Err(e.into()),
        },
        Err(e) => Err(e.into()),
    }
}

/// The error that a socket holds, if any.
pub(crate) fn socket_error(socket: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::net::sockopt::socket_error(socket)??)
}

/// Whether a connection without an exchange can take a request: its server has not closed it, and has sent
/// nothing that nobody asked for.
pub(crate) fn is_open(socket: BorrowedFd<'_>) -> bool {
    use rustix::net::{RecvFlags, recv};
    let mut byte = [0u8; 1];
    recv(socket, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT).is_err_and(|e| e == Errno::AGAIN)
}

/// Has this thread run on one core only.
pub(crate) fn pin(core: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    if core >= CpuSet::MAX_CPU {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("there is no core {core}")));
    }
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets load threads go before this thread, whatever class of scheduling they were given.
pub(crate) fn step_back() {
    const NICE: libc::c_int = 10;
    // SAFETY: all zeroes is a valid parameter; the calls take numbers and a pointer that outlives them.
    unsafe {
        let normal: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const normal);
        libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, NICE);
    }
}

/// Names this thread for those who look at the process from outside.
pub(crate) fn name_thread(name: &str) {
    if let Ok(name) = std::ffi::CString::new(name) {
        // A thread without a name works as well.
        let _ = rustix::thread::set_name(&name);
    }
}
