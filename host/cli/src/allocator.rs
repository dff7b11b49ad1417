//! The program's allocator: reading a tokenizer is a million small allocations, a tenth of it under this one.

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;
