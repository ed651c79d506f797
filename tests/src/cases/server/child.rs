//! The child: the real hubs behind a socket, and effects that ask first.

use std::process::ExitCode;

/// Serves connections at the socket that the first argument names; the second, if any, is asked before each effect.
pub fn serve(arguments: &[String]) -> ExitCode {
    let _ = arguments;
    ExitCode::FAILURE
}
