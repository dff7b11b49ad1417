//! The load client: arrival, schedule, connections, streams. Sees neither WASM nor Parquet.
