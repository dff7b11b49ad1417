//! What a column is, and the Arrow and Parquet schemas that follow from the columns.

use crate::columns::COLUMNS;
use crate::version::FORMAT;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bench_core::outcome::UnknownWord;
use bench_core::record::RequestRecord;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::sync::Arc;

/// Key of the format's version in the metadata of every file.
pub(crate) const FORMAT_KEY: &str = "bench.format";
/// Key of the run's description (that of `run.json`) in the metadata of `requests.parquet`.
pub(crate) const RUN_KEY: &str = "bench.run";

/// One column of the trace.
pub struct Column {
    /// Its name: a contract with every reader.
    pub name: &'static str,
    /// Unit or form of its values; empty where there is none.
    pub unit: &'static str,
    /// When it is null; `None`: never.
    pub null: Option<&'static str>,
    /// What it means.
    pub doc: &'static str,
    /// Only there where the workload asks for texts.
    pub text: bool,
    pub(crate) access: Access,
}

/// How a column's cell is taken from a record and put back.
pub(crate) enum Access {
    /// A whole number.
    Whole { get: fn(&RequestRecord) -> Option<u64>, set: fn(&mut RequestRecord, u64) -> Option<()> },
    /// A text. `repeats`: few values make up the column.
    Text {
        get: fn(&RequestRecord) -> Option<&str>,
        set: fn(&mut RequestRecord, &str, &mut Option<Arc<str>>),
        repeats: bool,
    },
    /// A word of a list.
    Word {
        get: fn(&RequestRecord) -> Option<&'static str>,
        set: fn(&mut RequestRecord, &str) -> Result<(), UnknownWord>,
    },
    /// Yes or no.
    Flag { get: fn(&RequestRecord) -> Option<bool>, set: fn(&mut RequestRecord, bool) },
    /// A SHA-256.
    Digest { get: fn(&RequestRecord) -> Option<[u8; 32]>, set: fn(&mut RequestRecord, [u8; 32]) },
    /// `Events::gap_us`.
    EventGap,
    /// `Events::tokens`.
    EventTokens,
    /// `Events::merged`.
    EventMerged,
    /// `Events::kind`.
    EventKind,
}

impl Column {
    /// The type as DuckDB, pandas and polars show it.
    pub const fn type_name(&self) -> &'static str {
        match self.access {
            Access::Whole { .. } => "int64",
            Access::Text { .. } | Access::Word { .. } => "utf8",
            Access::Flag { .. } => "bool",
            Access::Digest { .. } => "fixed_size_binary(32)",
            Access::EventGap => "list<int64>",
            Access::EventTokens => "list<uint16>",
            Access::EventMerged => "list<bool>",
            Access::EventKind => "list<utf8>",
        }
    }

    /// The type of a list's elements.
    pub(crate) fn element_type(&self) -> Option<DataType> {
        Some(match self.access {
            Access::EventGap => DataType::Int64,
            Access::EventTokens => DataType::UInt16,
            Access::EventMerged => DataType::Boolean,
            Access::EventKind => DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
            _ => return None,
        })
    }

    /// Name and type of the column's Arrow field.
    pub(crate) fn field(&self) -> Field {
        let data_type = match self.access {
            Access::Whole { .. } => DataType::Int64,
            Access::Text { .. } | Access::Word { .. } => DataType::Utf8,
            Access::Flag { .. } => DataType::Boolean,
            Access::Digest { .. } => DataType::FixedSizeBinary(32),
            _ => match self.element_type() {
                // The name that the Parquet format prescribes.
                Some(element) => DataType::List(Arc::new(Field::new("element", element, false))),
                None => DataType::Null,
            },
        };
        Field::new(self.name, data_type, self.null.is_some())
    }
}

/// The columns of a trace, with or without those that hold texts.
pub(crate) fn columns(text: bool) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(move |c| text || !c.text)
}

/// The Arrow schema of a trace.
pub(crate) fn arrow_schema(text: bool) -> SchemaRef {
    let fields: Vec<Field> = columns(text).map(Column::field).collect();
    let metadata = HashMap::from([(FORMAT_KEY.to_owned(), FORMAT.to_string())]);
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// What is known of a Parquet file but its rows. `chunk` encodes the columns.
pub(crate) fn parquet_properties() -> WriterProperties {
    WriterProperties::builder()
        .set_offset_index_disabled(true)
        .set_created_by(concat!("bench-host ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![KeyValue::new(FORMAT_KEY.to_owned(), FORMAT.to_string())]))
        .build()
}

/// How a column is compressed; nothing makes a digest smaller.
pub(crate) fn compression(column: &Column) -> Compression {
    match column.access {
        Access::Digest { .. } => Compression::UNCOMPRESSED,
        _ => Compression::ZSTD(ZstdLevel::default()),
    }
}
