//! The server: one thread, one runtime, any number of connections.

use crate::config::SimConfig;
use crate::fault::{Fault, FaultKind};
use crate::service::serve;
use crate::state::Sim;
use crate::wire::{self, Control, Wire};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{LocalSet, spawn_local};

/// A simulated engine that listens and does not answer yet.
pub struct SimServer {
    config: SimConfig,
    listener: StdListener,
    addr: SocketAddr,
}

impl SimServer {
    /// Takes the address and port of `config`. Raises this process's soft limit of open files to the hard one: the
    /// usual 1024 is too low for a thousand streams.
    ///
    /// # Errors
    /// `InvalidInput` for settings that can't be met, else what the operating system says.
    pub fn bind(config: SimConfig) -> io::Result<SimServer> {
        config.validate().map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        let files = getrlimit(Resource::Nofile);
        // Without it fewer streams are served at once; the others wait to be accepted.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum });
        let listener = StdListener::bind((config.host.as_str(), config.port))?;
        // The standard library's backlog is short for a thousand clients that come at once.
        rustix::net::listen(&listener, 4096)?;
        // Accepted sockets inherit it. Without stamps the time of the read is taken.
        let _ = wire::stamp_arrivals(listener.as_raw_fd());
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        Ok(SimServer { config, listener, addr })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves on this thread until `shutdown` is ready; then every connection is dropped.
    ///
    /// # Errors
    /// What the operating system says when the runtime or its timer can't be made.
    pub fn run_until(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let tasks = LocalSet::new();
        tasks.block_on(&runtime, async {
            let sim = Rc::new(Sim::new(self.config));
            let listener = TcpListener::from_std(self.listener)?;
            tokio::select! {
                ended = sim.drive() => ended,
                () = accept(&sim, &listener) => Ok(()),
                () = shutdown => Ok(()),
            }
        })
    }

    /// Serves on a thread of its own.
    ///
    /// # Errors
    /// As [`SimServer::bind`], or when no thread can be started.
    pub fn spawn(config: SimConfig) -> io::Result<SimHandle> {
        let server = SimServer::bind(config)?;
        let addr = server.addr();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("sim".into())
            .spawn(move || server.run_until(async move { stopped.notified().await }))?;
        Ok(SimHandle { addr, stop, thread: Some(thread) })
    }
}

/// A simulated engine on its own thread; stops when dropped.
pub struct SimHandle {
    addr: SocketAddr,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl SimHandle {
    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Server root, without `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Stops it and waits for its thread.
    ///
    /// # Errors
    /// What ended it before.
    pub fn stop(mut self) -> io::Result<()> {
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        self.stop.notify_one();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(io::Error::other("the simulated engine panicked")),
            None => Ok(()),
        }
    }
}

impl Drop for SimHandle {
    fn drop(&mut self) {
        // Nobody is left to hear of it.
        let _ = self.join();
    }
}

async fn accept(sim: &Rc<Sim>, listener: &TcpListener) {
    let refuse: Vec<Fault> = sim.config.faults.iter().filter(|f| f.kind == FaultKind::Refuse).cloned().collect();
    let mut number = 0_u64;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                number += 1;
                if !refuse.iter().any(|f| f.strikes(number)) {
                    spawn_local(connection(Rc::clone(sim), stream));
                }
            }
            // Out of descriptors, or a client that left already: others may end meanwhile.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn connection(sim: Rc<Sim>, stream: TcpStream) {
    // Only a socket that is gone refuses.
    let _ = stream.set_nodelay(true);
    let stream = Rc::new(stream);
    let control = Rc::new(Control::new());
    let service = {
        let control = Rc::clone(&control);
        service_fn(move |request| serve(Rc::clone(&sim), Rc::clone(&control), request))
    };
    let wire = Wire::new(Rc::clone(&stream), Rc::clone(&control));
    let http = http1::Builder::new().serve_connection(wire, service);
    tokio::select! {
        // A client that breaks off or speaks no HTTP ends its own connection, no more.
        _ = http => {}
        () = control.ended() => {}
    }
    control.prepare_drop(&stream);
}
