//! `bench-host` itself, as the end-to-end tests start it.

fn main() -> std::process::ExitCode {
    bench_host::main_with(std::env::args_os().collect()).into()
}
