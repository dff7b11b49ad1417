//! Request records to Parquet and back; the run directory.
