//! Prints the milliseconds of the first start of a server in a process, and the median of a hundred forks.

use std::time::Instant;

use kubefake::{Result, Server};

fn main() -> Result<()> {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts").block_on(async {
        let begin = Instant::now();
        let server = Server::start().await?;
        let start = begin.elapsed();
        let mut forks = Vec::new();
        for _ in 0..100 {
            let begin = Instant::now();
            let fork = server.fork().await?;
            forks.push(begin.elapsed());
            drop(fork);
        }
        forks.sort();
        println!("{:.1} {:.1}", start.as_secs_f64() * 1e3, forks[50].as_secs_f64() * 1e3);
        Ok(())
    })
}
