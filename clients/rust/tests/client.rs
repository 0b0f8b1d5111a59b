//! The crate kube: clients, watchers, and users.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    api::{ListParams, ObjectMeta, PostParams},
    runtime::{watcher, WatchStreamExt},
    Api, Client,
};
use kubefake::{Fault, Options, Server};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

fn config_map(name: &str, color: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), namespace: Some("default".into()), ..ObjectMeta::default() },
        data: Some([("color".to_string(), color.to_string())].into()),
        ..ConfigMap::default()
    }
}

/// The HTTP status code of a request that has failed.
fn code<T: std::fmt::Debug>(result: kube::Result<T>) -> u16 {
    match result.unwrap_err() {
        kube::Error::Api(status) => status.code,
        other => panic!("{other}"),
    }
}

#[kubefake::test]
async fn conflict(server: Server, client: Client) -> Result {
    let walls: Api<ConfigMap> = Api::default_namespaced(client);
    let mut wall = walls.create(&PostParams::default(), &config_map("wall", "red")).await?;
    let fault = server.inject(Fault { verb: "update".into(), code: 409, times: 1, ..Fault::default() }).await?;
    wall.data = config_map("wall", "green").data;
    assert_eq!(code(walls.replace("wall", &PostParams::default(), &wall).await), 409);
    walls.replace("wall", &PostParams::default(), &wall).await?;
    assert_eq!(fault.hits().await?, 1);
    Ok(())
}

#[kubefake::test]
async fn watches(server: Server, client: Client) -> Result {
    let walls: Api<ConfigMap> = Api::default_namespaced(client);
    let mut events = Box::pin(watcher(walls, watcher::Config::default().labels("!kubernetes")).default_backoff().applied_objects());
    server.store([config_map("wall", "red")]).await?;
    while let Some(object) = events.next().await {
        if object?.metadata.name.as_deref() == Some("wall") {
            break;
        }
    }
    // The watcher lists again after its watch has expired.
    server.compact().await?;
    server.control().compact(&kubefake::control::Compaction { watch_cache: true, watches: true, ..Default::default() }).await?;
    server.store([config_map("wall", "green")]).await?;
    while let Some(event) = events.next().await {
        if matches!(event, Ok(object) if object.data == config_map("wall", "green").data) {
            break;
        }
    }
    Ok(())
}

#[kubefake::test(Options::new().rbac())]
async fn users(server: Server) -> Result {
    let alice: Api<ConfigMap> = Api::default_namespaced(server.client_for("alice", &["developers"]).await?);
    assert_eq!(code(alice.list(&ListParams::default()).await), 403);
    Ok(())
}
