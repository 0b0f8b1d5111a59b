//! The executable that the feature `embed` carries, in parts. A release has another file in its place, whose parts are in the
//! crates of the platform: internal/dist writes it.

pub const PARTS: [&[u8]; 1] = [include_bytes!(env!("FAKEAPI_BINARY", "the feature embed needs FAKEAPI_BINARY when the crate is built"))];
