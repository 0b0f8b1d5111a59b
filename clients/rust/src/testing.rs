use std::{
    collections::HashMap,
    future::Future,
    panic::{catch_unwind, resume_unwind, AssertUnwindSafe},
    sync::{Arc, Mutex, OnceLock},
};

use crate::{Options, Server};

/// A type that parameters of `#[kubefake::test]` may have.
pub trait FromServer: Sized {
    /// Returns a value for the server of a test. It panics if there is none.
    fn from_server(server: &Server) -> impl Future<Output = Self>;
}

impl FromServer for Server {
    async fn from_server(server: &Server) -> Self {
        server.clone()
    }
}

#[cfg(feature = "kube")]
impl FromServer for kube::Client {
    async fn from_server(server: &Server) -> Self {
        server.client().await.expect("the server has a client")
    }
}

/// What a test may return.
pub trait Outcome {
    /// Reports whether the test has failed.
    fn failed(&self) -> bool;
}

impl Outcome for () {
    fn failed(&self) -> bool {
        false
    }
}

impl<T, E> Outcome for Result<T, E> {
    fn failed(&self) -> bool {
        self.is_err()
    }
}

/// The servers of this process, by their options. They end with the process.
type Servers = Mutex<HashMap<Options, Arc<OnceLock<Server>>>>;

/// Runs a test with a fork of the server with these options, in a runtime of its own. It prints
/// the story of the fork if the test fails.
pub fn run<F, T>(options: Options, test: F) -> T::Output
where
    F: FnOnce(Server) -> T,
    T: Future,
    T::Output: Outcome,
{
    static SERVERS: OnceLock<Servers> = OnceLock::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let cell = SERVERS.get_or_init(Servers::default).lock().unwrap_or_else(|e| e.into_inner()).entry(options.clone()).or_default().clone();
    let server = cell.get_or_init(|| runtime.block_on(Server::start_with(options)).expect("the server starts"));
    let fork = runtime.block_on(server.fork()).expect("the server forks");
    let outcome = catch_unwind(AssertUnwindSafe(|| runtime.block_on(test(fork.clone()))));
    if !matches!(&outcome, Ok(outcome) if !outcome.failed()) {
        match runtime.block_on(fork.story()) {
            Ok(story) => eprintln!("fakeapi story\n{story}"),
            Err(e) => eprintln!("the server has no story: {e}"),
        }
    }
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}
