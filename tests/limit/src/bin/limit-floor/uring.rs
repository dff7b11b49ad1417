//! Reads by io_uring: one multishot recvmsg for each connection, into buffers that the kernel picks.

use crate::client::{Client, Connection};
use bench_limit::{Args, ArgsError, stamp_in_control};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU16, Ordering};

/// Buffers of the ring; a power of two.
const BUFFERS: u16 = 4096;
const BUFFER_SIZE: usize = 2048;
/// Room for control messages in each buffer.
const CONTROL: usize = 64;
/// Marks the completions of sends.
const SEND: u64 = 1 << 32;

/// How long completions gather.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    completions: usize,
    limit: types::Timespec,
}

impl Wait {
    /// Out of `--waitn` and `--waitus`.
    pub(crate) fn of(args: &Args) -> Result<Wait, ArgsError> {
        let us: u64 = args.value("waitus", 1000)?;
        let limit = types::Timespec::new().sec(us / 1_000_000).nsec((us % 1_000_000) as u32 * 1000);
        Ok(Wait { completions: args.value("waitn", 64)?, limit })
    }
}

/// A ring of buffers that the kernel fills.
struct Buffers {
    entries: *mut types::BufRingEntry,
    bytes: Vec<u8>,
    tail: u16,
}

impl Buffers {
    const RING_SIZE: usize = BUFFERS as usize * size_of::<types::BufRingEntry>();

    /// Registers the ring; all buffers are the kernel's then.
    fn register(ring: &IoUring) -> io::Result<Buffers> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_ANONYMOUS | libc::MAP_PRIVATE);
        // SAFETY: asks for fresh pages.
        let pages = unsafe { libc::mmap(ptr::null_mut(), Self::RING_SIZE, protection, flags, -1, 0) };
        if pages == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let bytes = vec![0; BUFFERS as usize * BUFFER_SIZE];
        let mut buffers = Buffers { entries: pages.cast(), bytes, tail: 0 };
        // SAFETY: the pages stay mapped until the ring is gone, which is dropped before the buffers.
        unsafe { ring.submitter().register_buf_ring_with_flags(pages as u64, BUFFERS, 0, 0)? };
        (0..BUFFERS).for_each(|id| buffers.give(id));
        buffers.publish();
        Ok(buffers)
    }

    /// Gives a buffer back to the kernel, which sees it when [`Buffers::publish`] is called.
    fn give(&mut self, id: u16) {
        let address = self.bytes[usize::from(id) * BUFFER_SIZE..].as_ptr() as u64;
        // SAFETY: the place is within the ring, and the kernel does not look at it before the tail is moved.
        let entry = unsafe { &mut *self.entries.add(usize::from(self.tail & (BUFFERS - 1))) };
        entry.set_addr(address);
        entry.set_len(BUFFER_SIZE as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        // SAFETY: the tail lies in the ring's first entry and is only accessed atomically while the kernel has it.
        let tail = unsafe { &*types::BufRingEntry::tail(self.entries).cast::<AtomicU16>() };
        tail.store(self.tail, Ordering::Release);
    }

    fn get(&self, id: u16) -> &[u8] {
        &self.bytes[usize::from(id) * BUFFER_SIZE..][..BUFFER_SIZE]
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: these are the pages that were mapped, and nobody uses them any more.
        unsafe { libc::munmap(self.entries.cast(), Self::RING_SIZE) };
    }
}

/// A completion: user data, result, flags.
type Completion = (u64, i32, u32);

struct Driver<'a> {
    client: &'a mut Client,
    connections: &'a mut [Connection],
    // Before the buffers, so that it is dropped first.
    ring: IoUring,
    buffers: Buffers,
    /// What every receive is told: how much room control messages have. The kernel reads it while it is armed.
    message: Box<libc::msghdr>,
    pending: Vec<squeue::Entry>,
    open: usize,
}

/// Drives the load to its end.
pub(crate) fn drive(client: &mut Client, connections: &mut [Connection], wait: Wait) -> io::Result<()> {
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_cqsize(16_384)
        .build(4096)?;
    let buffers = Buffers::register(&ring)?;
    // SAFETY: all zeroes is a valid msghdr.
    let mut message: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
    message.msg_controllen = CONTROL as _;
    let mut driver = Driver { client, connections, ring, buffers, message, pending: Vec::new(), open: 0 };
    for i in 0..driver.connections.len() {
        driver.arm(i);
        if driver.client.next_request() {
            driver.send(i);
            driver.open += 1;
        }
    }
    let mut completions: Vec<Completion> = Vec::with_capacity(16_384);
    while driver.open > 0 {
        driver.submit_and_wait(wait)?;
        completions.clear();
        completions.extend(driver.ring.completion().map(|c| (c.user_data(), c.result(), c.flags())));
        for completion in &completions {
            driver.complete(*completion)?;
        }
        driver.buffers.publish();
    }
    Ok(())
}

impl Driver<'_> {
    fn arm(&mut self, i: usize) {
        let fd = types::Fd(self.connections[i].socket.as_raw_fd());
        self.pending.push(opcode::RecvMsgMulti::new(fd, &raw const *self.message, 0).build().user_data(i as u64));
    }

    fn send(&mut self, i: usize) {
        let (fd, request) = (types::Fd(self.connections[i].socket.as_raw_fd()), &self.client.request);
        let send = opcode::Send::new(fd, request.as_ptr(), request.len() as u32);
        self.pending.push(send.build().user_data(SEND | i as u64));
    }

    fn submit_and_wait(&mut self, wait: Wait) -> io::Result<()> {
        while !self.pending.is_empty() {
            let mut queue = self.ring.submission();
            let n = (queue.capacity() - queue.len()).min(self.pending.len());
            // SAFETY: sockets, request, message and buffers live until the ring is gone.
            let pushed = unsafe { queue.push_multiple(&self.pending[..n]) };
            pushed.map_err(io::Error::other)?;
            drop(queue);
            self.pending.drain(..n);
            if !self.pending.is_empty() {
                self.ring.submit()?;
                self.client.syscalls += 1;
            }
        }
        self.client.syscalls += 1;
        let args = types::SubmitArgs::new().timespec(&wait.limit);
        match self.ring.submitter().submit_with_args(wait.completions, &args) {
            // The time is over, or there are more completions than room: what is there is taken.
            Err(e) if !matches!(e.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => Err(e),
            _ => Ok(()),
        }
    }

    fn complete(&mut self, (data, result, flags): Completion) -> io::Result<()> {
        let i = (data & !SEND) as usize;
        if data & SEND != 0 {
            let whole = usize::try_from(result) == Ok(self.client.request.len());
            return if whole { Ok(()) } else { Err(io::Error::other(format!("a send gave {result}"))) };
        }
        if result < 0 && result != -libc::ENOBUFS {
            return Err(io::Error::from_raw_os_error(-result));
        }
        if let Some(id) = cqueue::buffer_select(flags) {
            self.receive(i, id)?;
        }
        if !cqueue::more(flags) {
            self.arm(i);
        }
        Ok(())
    }

    fn receive(&mut self, i: usize, id: u16) -> io::Result<()> {
        let received = types::RecvMsgOut::parse(self.buffers.get(id), &self.message);
        let received = received.map_err(|()| io::Error::other("a receive does not fit its buffer"))?;
        let bytes = received.payload_data();
        if bytes.is_empty() {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server closed a connection"));
        }
        let stamp = stamp_in_control(received.control_data());
        let ended = self.client.received(&mut self.connections[i], bytes, stamp);
        self.buffers.give(id);
        if ended {
            if self.client.next_request() {
                self.send(i);
            } else {
                self.open -= 1;
            }
        }
        Ok(())
    }
}
