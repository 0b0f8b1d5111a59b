//! The twelve steps of docs/twelve-steps.md with the crate kube.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::Arc,
    time::Duration,
};

use futures::StreamExt;
use k8s_openapi::{api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition};
use kube::{
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams, VersionMatch, WatchEvent,
        WatchParams,
    },
    Api, Client,
};
use kubefake::{control::WebhookListener, Options, Server};
use rustls::pki_types::{pem::PemObject, CertificateDer, PrivateKeyDer};
use serde_json::{from_value, json, Value};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

fn crd() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "walls.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "walls", "kind": "Wall"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
                "properties": {"spec": {"type": "object", "properties": {"color": {"type": "string", "enum": ["green", "red"]}}}}}}}]}})
}

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web"}]}}}})
}

fn hook() -> Value {
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "paint"},
        "webhooks": [{"name": "paint.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"service": {"namespace": "default", "name": "paint"}},
            "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["walls"]}]}]})
}

fn wall(name: &str, color: &str) -> DynamicObject {
    from_value(json!({"apiVersion": "example.com/v1", "kind": "Wall", "metadata": {"name": name}, "spec": {"color": color}})).unwrap()
}

fn config_map(name: &str, color: &str) -> ConfigMap {
    from_value(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"color": color}})).unwrap()
}

fn color(object: &ConfigMap) -> &str {
    &object.data.as_ref().unwrap()["color"]
}

/// The status of a request that has failed.
fn status<T: std::fmt::Debug>(result: kube::Result<T>) -> kube::core::Status {
    match result.unwrap_err() {
        kube::Error::Api(status) => *status,
        other => panic!("{other}"),
    }
}

#[kubefake::test(Options::new().rbac().controllers("*").clock("2030-01-01T09:00:00Z"))]
async fn twelve_steps(server: Server, client: Client) -> Result {
    let new = PostParams::default();
    let wall_type = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Wall"));
    let walls: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &wall_type);
    let config_maps: Api<ConfigMap> = Api::default_namespaced(client.clone());

    // 1. CRD: the server validates objects by a definition as soon as it is created.
    Api::<CustomResourceDefinition>::all(client.clone()).create(&new, &from_value(crd())?).await?;
    assert_eq!(status(walls.create(&new, &wall("north", "blue")).await).code, 422);
    walls.create(&new, &wall("north", "green")).await?;

    // 2. Apply: fields have owners.
    let applied = config_maps.patch("paint", &PatchParams::apply("painter"), &Patch::Apply(config_map("paint", "green"))).await?;
    assert_eq!(applied.metadata.managed_fields.as_ref().unwrap()[0].manager.as_deref(), Some("painter"));

    // 3. Watch: history that is compacted is 410 Gone, or 410 Expired in the watch.
    server.compact().await?;
    let mut expired = Box::pin(config_maps.watch(&WatchParams::default(), "1").await?);
    assert!(matches!(expired.next().await, Some(Ok(WatchEvent::Error(status))) if status.code == 410));

    // 4. Conflict: an update of an old version fails.
    config_maps.replace("paint", &new, &ConfigMap { data: config_map("paint", "red").data, ..applied.clone() }).await?;
    assert_eq!(status(config_maps.replace("paint", &new, &applied).await).code, 409);

    // 5. Finalizer: the object is there until the last finalizer is removed.
    let mut kept = config_map("kept", "green");
    kept.metadata.finalizers = Some(vec!["example.com/paint".into()]);
    config_maps.create(&new, &kept).await?;
    config_maps.delete("kept", &DeleteParams::default()).await?;
    assert!(config_maps.get("kept").await?.metadata.deletion_timestamp.is_some());
    config_maps.patch("kept", &PatchParams::default(), &Patch::Merge(json!({"metadata": {"finalizers": null}}))).await?;
    assert!(config_maps.get_opt("kept").await?.is_none());

    // 6. Settle: the controllers have nothing left to do.
    let deployments: Api<k8s_openapi::api::apps::v1::Deployment> = Api::default_namespaced(client.clone());
    deployments.create(&new, &from_value(deployment())?).await?;
    server.settle(Duration::from_secs(60)).await?;
    assert_eq!(deployments.get("web").await?.status.unwrap().ready_replicas, Some(2));

    // 7. Fork: a server with the same state.
    let fork = server.fork().await?;
    let forked: Api<DynamicObject> = Api::default_namespaced_with(fork.client().await?, &wall_type);
    forked.delete("north", &DeleteParams::default()).await?;
    assert!(forked.get_opt("north").await?.is_none());
    assert!(walls.get_opt("north").await?.is_some());

    // 8. Freeze: a read from the watch cache is stale.
    server.freeze("configmaps").await?;
    config_maps.patch("paint", &PatchParams::default(), &Patch::Merge(json!({"data": {"color": "green"}}))).await?;
    let cached = ListParams::default().fields("metadata.name=paint").at("0").matching(VersionMatch::NotOlderThan);
    assert_eq!(color(&config_maps.list(&cached).await?.items[0]), "red");
    server.thaw("configmaps").await?;

    // 9. Clock: the test moves the time of the server.
    server.advance(Duration::from_secs(3600)).await?;
    let late = config_maps.create(&new, &config_map("late", "green")).await?;
    assert!(json!(late.metadata.creation_timestamp).as_str().unwrap().starts_with("2030-01-01T10:"));

    // 10. RBAC: a user without roles is forbidden.
    let alice: Api<ConfigMap> = Api::default_namespaced(server.client_for("alice", &["developers"]).await?);
    assert_eq!(status(alice.list(&ListParams::default()).await).code, 403);

    // 11. Webhook: the test serves the webhooks of a configuration.
    server.store([hook()]).await?;
    serve(server.install_webhooks().await?)?;
    let denied = status(walls.create(&new, &wall("south", "red")).await);
    assert!(denied.message.contains("denied the request: red is sold out"), "{}", denied.message);

    // 12. Story: what happened on the server.
    assert!(server.story().await?.contains("denied the request: red is sold out"));
    Ok(())
}

/// Denies one object, in a thread of its own.
fn serve(webhooks: WebhookListener) -> Result {
    let certificate = CertificateDer::from_pem_slice(webhooks.certificate.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(webhooks.key.as_bytes())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key)?);
    let listener = TcpListener::bind((webhooks.host.as_str(), webhooks.port as u16))?;
    std::thread::spawn(move || {
        let session = rustls::ServerConnection::new(config).unwrap();
        let mut stream = BufReader::new(rustls::StreamOwned::new(session, listener.accept().unwrap().0));
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let mut review: Value = serde_json::from_slice(&body).unwrap();
        review["response"] = json!({"uid": review["request"]["uid"], "allowed": false, "status": {"message": "red is sold out"}});
        let text = review.to_string();
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        stream.get_mut().write_all(answer.as_bytes()).unwrap();
    });
    Ok(())
}
