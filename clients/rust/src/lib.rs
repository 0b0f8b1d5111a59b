#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

use std::{fmt, io, time::Duration};

mod connection;
#[rustfmt::skip]
#[allow(missing_docs)] // the control endpoint describes most fields
pub mod control;
#[cfg(feature = "embed")]
mod embedded;
mod executable;
mod options;
mod server;
mod testing;

pub use control::Fault;
pub use executable::find_binary;
pub use kubefake_macros::test;
pub use options::Options;
pub use server::{Injection, Server};
#[doc(hidden)]
pub use testing::run;
pub use testing::{FromServer, Outcome};

/// The result of a request to the control endpoint.
pub type Result<T> = std::result::Result<T, Error>;

/// A request to the control endpoint failed, or the server did not start.
#[derive(Clone, Debug)]
pub struct Error {
    message: String,
    code: u16,
}

impl Error {
    fn new(message: impl ToString) -> Self {
        Self { message: message.to_string(), code: 0 }
    }

    /// The HTTP status code; 0 if the server did not start or did not answer.
    pub fn code(&self) -> u16 {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(e: io::Error) -> Self {
        Self::new(e)
    }
}

impl From<serde_json::Error> for Error {
    fn from(e: serde_json::Error) -> Self {
        Self::new(e)
    }
}

/// A duration as the server reads it.
fn format(d: Duration) -> String {
    format!("{}us", d.as_micros())
}
