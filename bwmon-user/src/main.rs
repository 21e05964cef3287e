//! The `bwmon` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    bwmon_user::cli::main()
}
