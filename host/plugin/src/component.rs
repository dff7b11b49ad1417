//! What a component says of itself without being compiled: its imports and exports.

use wasmparser::{Parser, Payload};

/// The outermost imports and exports of a component.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Interfaces {
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
}

/// Reads them. The error says what the bytes are instead of a component.
pub(crate) fn interfaces(bytes: &[u8]) -> Result<Interfaces, String> {
    if Parser::is_core_wasm(bytes) {
        return Err("it is a core WebAssembly module, not a component; link it with `wasm-component-ld` or \
                    wrap it with `wasm-tools component new`"
            .to_owned());
    }
    if !Parser::is_component(bytes) {
        return Err("it is no WebAssembly component".to_owned());
    }
    let mut found = Interfaces { imports: Vec::new(), exports: Vec::new() };
    let mut depth = 0u32;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(damaged)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    found.imports.push(import.map_err(damaged)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    found.exports.push(export.map_err(damaged)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn damaged(e: wasmparser::BinaryReaderError) -> String {
    format!("it is a damaged WebAssembly component: {e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_names_count() {
        let bytes = wat::parse_str(
            r#"(component
                (import "bench:host/log@0.1.0" (instance $log (export "log" (func))))
                (component $inner (import "hidden" (func)) (export "f" (func 0)))
                (instance $i (instantiate $inner (with "hidden" (func $log "log"))))
                (export "bench:engine/adapter@0.1.0" (instance $i)))"#,
        )
        .unwrap();
        let found = interfaces(&bytes).unwrap();
        assert_eq!(found.imports, ["bench:host/log@0.1.0"]);
        assert_eq!(found.exports, ["bench:engine/adapter@0.1.0"]);
        assert!(interfaces(&bytes[..bytes.len() - 3]).unwrap_err().starts_with("it is a damaged"));
    }

    #[test]
    fn modules_and_texts_are_told_apart() {
        let module = wat::parse_str("(module)").unwrap();
        assert!(interfaces(&module).unwrap_err().contains("core WebAssembly module"));
        assert_eq!(interfaces(b"#!/bin/sh").unwrap_err(), "it is no WebAssembly component");
    }
}
