//! The `hook` command. Everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    hook_cli::main()
}
