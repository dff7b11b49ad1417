//! The binary: everything is in the library.

fn main() -> std::process::ExitCode {
    bench_host::main_with(std::env::args_os().collect()).into()
}
