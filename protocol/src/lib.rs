//! Wire types of the Redline protocol, and nothing else.
//!
//! Owns: the shapes that cross the socket between the sidecar and its clients (editors, the CLI).
//! They are the single source of the TypeScript and Lua contracts.
//!
//! Must not know: any domain type. `server` converts at its edge; no type here has behaviour.
//!
//! Methods are `redline/<resource>/<verb>`, fields are camelCase, an optional field is absent or null.
//!
//! - [`v1`]: version one of every message.
//! - [`contracts`]: JSON Schema, TypeScript and Lua, generated from `v1`.

pub mod contracts;
pub mod v1;
