//! Tests of the crate that need no Kubernetes client.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use kubefake::{control::User, Fault, Options, Result, Server};
use serde_json::{json, Value};

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}})
}

fn world() -> Options {
    Options::new().clock("2030-01-01T09:00:00Z").store(config_map("shared"))
}

/// The names of the ConfigMaps that a server has had written.
async fn written(server: &Server) -> Result<Vec<String>> {
    let changes = server.writes().await?.into_iter().flat_map(|w| w.changes);
    Ok(changes.filter(|c| c.resource == "configmaps" && !c.name.starts_with("kube-")).map(|c| c.name).collect())
}

fn answers(url: &str) -> bool {
    TcpStream::connect(url.split("://").nth(1).unwrap()).is_ok()
}

macro_rules! each_test_has_a_fork {
    ($($name:ident)*) => { $(
        #[kubefake::test(world())]
        async fn $name(server: Server) -> Result<()> {
            server.store([config_map("own")]).await?;
            assert_eq!(written(&server).await?, ["shared", "own"]);
            server.remove([config_map("own")]).await?;
            Ok(())
        }
    )* };
}
each_test_has_a_fork!(fork_1 fork_2 fork_3 fork_4);

#[kubefake::test]
async fn forks_end(server: Server) -> Result<()> {
    let fork = server.fork().await?;
    let nested = fork.fork().await?;
    let urls = [fork.url().to_string(), nested.url().to_string()];
    assert_eq!(server.control().list_forks().await?.forks.len(), 1);
    drop(fork);
    assert!(answers(&urls[0]), "the nested fork needs its parent");
    drop(nested);
    assert!(!answers(&urls[0]) && !answers(&urls[1]));
    assert_eq!(server.control().list_forks().await?.forks.len(), 0);
    Ok(())
}

#[test]
fn two_hundred_forks_at_once_leave_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::start().await.unwrap();
        let directory = server.kubeconfig_file().unwrap().parent().unwrap().to_owned();
        let forks = futures::future::join_all((0..200).map(|_| server.fork())).await;
        let urls: Vec<String> = forks.iter().map(|f| f.as_ref().unwrap().url().to_string()).collect();
        futures::future::join_all(forks.iter().flatten().map(|f| f.store([config_map("own")]))).await;
        drop(forks);
        assert!(!urls.iter().any(|url| answers(url)));
        let url = server.url().to_string();
        drop(server);
        assert!(!answers(&url));
        assert!(!directory.exists());
    });
}

#[kubefake::test]
async fn lags(server: Server) -> Result<()> {
    assert!(server.freeze("configmaps").await?.lags[0].frozen);
    assert!(server.thaw("configmaps").await?.lags.is_empty());
    assert_eq!(server.lag("configmaps", Duration::from_secs(2)).await?.lags[0].by, "2s");
    Ok(())
}

#[kubefake::test]
async fn faults(server: Server) -> Result<()> {
    let fault = server.inject(Fault { verb: "list".into(), resource: "configmaps".into(), code: 500, ..Fault::default() }).await?;
    assert_eq!(fault.hits().await?, 0);
    fault.remove().await?;
    let failure = server.inject(Fault { code: 99, ..Fault::default() }).await.unwrap_err();
    assert_eq!(failure.code(), 400);
    assert!(failure.to_string().contains("code"), "{failure}");
    Ok(())
}

#[kubefake::test(world())]
async fn clock(server: Server) -> Result<()> {
    server.advance(Duration::from_millis(601_500)).await?;
    assert_eq!(server.now().await?, "2030-01-01T09:10:01.5Z");
    server.settle(Duration::from_secs(60)).await
}

#[kubefake::test]
async fn compaction(server: Server) -> Result<()> {
    let revision = server.store([config_map("a")]).await?.revision;
    assert_eq!(server.compact().await?.revision, revision);
    Ok(())
}

#[kubefake::test]
async fn story(server: Server) -> Result<()> {
    server.store([config_map("told")]).await?;
    assert!(server.story().await?.contains("store configmaps default/told"));
    assert!(server.story_page().await?.contains("<title>"));
    assert_eq!(server.control().story(Some(true)).await?.format, 1);
    assert_eq!(server.control().writes(Some("1")).await?.last().unwrap().changes[0].name, "told");
    Ok(())
}

#[kubefake::test]
async fn users_need_tls(server: Server) {
    let failure = server.control().kubeconfig(&User { name: "alice".into(), ..User::default() }).await.unwrap_err();
    assert!(failure.to_string().contains("TLS"), "{failure}");
}

#[test]
fn a_server_that_does_not_start() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let failure = runtime.block_on(Server::start_with(Options::new().flag("--none"))).unwrap_err();
    assert!(failure.to_string().contains("unknown flag: --none"), "{failure}");
}

/// Fails on purpose, for `a_failed_test_has_the_story`.
#[kubefake::test]
#[ignore]
async fn failing(server: Server) {
    server.store([config_map("broken")]).await.unwrap();
    panic!("it fails");
}

#[kubefake::test]
#[ignore]
async fn failing_with_an_error(server: Server) -> Result<()> {
    server.store([config_map("refused")]).await?;
    server.inject(Fault { code: 99, ..Fault::default() }).await.map(drop)
}

/// Starts a server and does not end, for `a_killed_runner_leaves_nothing`.
#[kubefake::test]
#[ignore]
async fn runner(server: Server) {
    println!("kubeconfig {}", server.kubeconfig_file().unwrap().display());
    println!("url {}", server.url());
    std::future::pending().await
}

/// A command that runs an ignored test of this file.
fn run(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored"]);
    command
}

#[test]
fn a_failed_test_has_the_story() {
    for (test, name) in [("failing", "broken"), ("failing_with_an_error", "refused")] {
        let output = run(test).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success());
        assert!(text.contains("fakeapi story\n") && text.contains(&format!("store configmaps default/{name}")), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_killed_runner_leaves_nothing() {
    let mut runner = run("runner").arg("--nocapture").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(runner.stdout.take().unwrap()).lines().map_while(std::result::Result::ok);
    let file = lines.find_map(|line| line.split_once("kubeconfig ").map(|(_, file)| file.to_string())).unwrap();
    let url = lines.find_map(|line| line.strip_prefix("url ").map(ToString::to_string)).unwrap();
    let directory = Path::new(&file).parent().unwrap();
    assert!(directory.exists() && answers(&url));
    runner.kill().unwrap();
    runner.wait().unwrap();
    while directory.exists() || answers(&url) {
        std::thread::yield_now(); // until the server has noticed
    }
}
