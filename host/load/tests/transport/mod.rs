//! What must hold whichever way the bytes come.

mod captures;
mod faults;
mod schedules;
mod stamps;
mod wire_cases;
