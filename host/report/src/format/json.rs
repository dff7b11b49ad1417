//! `summary.json`.

use crate::error::ReportError;
use crate::summary::Summary;
use std::io::Write;

/// Writes the summary as JSON; the same summary gives the same bytes.
///
/// # Errors
/// Where `out` can't be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> Result<(), ReportError> {
    serde_json::to_writer_pretty(&mut *out, summary).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
