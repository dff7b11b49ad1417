//! How a tool ends.

use std::error::Error;
use std::process::ExitCode;

/// The exit code of a tool by what came of it; says on stderr what went wrong.
#[expect(clippy::print_stderr, reason = "a tool says what went wrong")]
pub fn exit(tool: &str, result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{tool}: {e}");
            ExitCode::FAILURE
        }
    }
}
