//! Connections and exchanges over them.

pub(crate) mod connect;
pub(crate) mod due;
pub(crate) mod exchange;
pub(crate) mod intake;
pub(crate) mod io;
pub(crate) mod pool;
pub(crate) mod request;
pub(crate) mod site;
pub(crate) mod stops;
pub(crate) mod tap;
pub(crate) mod tls;
