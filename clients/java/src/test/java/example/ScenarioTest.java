package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.github.kubefake.Kube;
import io.github.kubefake.Kubefake;
import io.github.kubefake.Webhooks;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The twelve steps of docs/twelve-steps.md with fabric8's client. */
@Kubefake(rbac = true, controllers = "*", clock = "2030-01-01T09:00:00Z")
class ScenarioTest {
  static final String CRD = """
      {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "walls.example.com"},
       "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "walls", "kind": "Wall"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
         "properties": {"spec": {"type": "object", "properties": {"color": {"type": "string", "enum": ["green", "red"]}}}}}}}]}}
      """;
  static final String DEPLOYMENT = """
      {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
       "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web"}]}}}}
      """;
  static final String HOOK = """
      {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "paint"},
       "webhooks": [{"name": "paint.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
         "clientConfig": {"service": {"namespace": "default", "name": "paint"}},
         "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["walls"]}]}]}
      """;
  static final PatchContext PAINTER = new PatchContext.Builder().withPatchType(PatchType.SERVER_SIDE_APPLY).withFieldManager("painter").build();

  static ConfigMap configMap(String name, String color) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().addToData("color", color).build();
  }

  static GenericKubernetesResource wall(String name, String color) {
    return Serialization.unmarshal("""
        {"apiVersion": "example.com/v1", "kind": "Wall", "metadata": {"name": "%s", "namespace": "default"}, "spec": {"color": "%s"}}
        """.formatted(name, color), GenericKubernetesResource.class);
  }

  static int code(Runnable request) {
    return assertThrows(KubernetesClientException.class, request::run).getCode();
  }

  @Test
  void twelveSteps(Kube kube, KubernetesClient client) throws Exception {
    NonNamespaceOperation<ConfigMap, ConfigMapList, Resource<ConfigMap>> configMaps = client.configMaps().inNamespace("default");

    // 1. CRD: the server validates objects by a definition as soon as it is created.
    client.resource(CRD).create();
    assertEquals(422, code(() -> client.resource(wall("north", "blue")).create()));
    client.resource(wall("north", "green")).create();

    // 2. Apply: fields have owners.
    ConfigMap applied = configMaps.resource(configMap("paint", "green")).patch(PAINTER);
    assertEquals("painter", applied.getMetadata().getManagedFields().get(0).getManager());

    // 3. Watch: history that is compacted is 410 Gone, or 410 Expired in the watch.
    kube.compact();
    CompletableFuture<WatcherException> expired = new CompletableFuture<>();
    configMaps.watch(new ListOptionsBuilder().withResourceVersion("1").build(), new Watcher<ConfigMap>() {
      @Override
      public void eventReceived(Action action, ConfigMap object) {}

      @Override
      public void onClose(WatcherException cause) {
        expired.complete(cause);
      }
    });
    assertTrue(expired.get().isHttpGone());

    // 4. Conflict: an update of an old version fails.
    configMaps.resource(applied.edit().addToData("color", "red").build()).update();
    assertEquals(409, code(() -> configMaps.resource(applied.edit().addToData("color", "blue").build()).update()));

    // 5. Finalizer: the object is there until the last finalizer is removed.
    configMaps.resource(configMap("kept", "green").edit().editMetadata().addToFinalizers("example.com/paint").endMetadata().build()).create();
    configMaps.withName("kept").delete();
    assertNotNull(configMaps.withName("kept").get().getMetadata().getDeletionTimestamp());
    configMaps.withName("kept").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\": {\"finalizers\": null}}");
    assertNull(configMaps.withName("kept").get());

    // 6. Settle: the controllers have nothing left to do.
    client.resource(DEPLOYMENT).create();
    kube.settle(Duration.ofMinutes(1));
    assertEquals(2, client.apps().deployments().inNamespace("default").withName("web").get().getStatus().getReadyReplicas());

    // 7. Fork: a server with the same state.
    try (Kube fork = kube.fork()) {
      fork.client(KubernetesClient.class).resource(wall("north", "green")).delete();
      assertNull(fork.client(KubernetesClient.class).resource(wall("north", "green")).get());
    }
    assertNotNull(client.resource(wall("north", "green")).get());

    // 8. Freeze: a read from the watch cache is stale.
    kube.freeze("configmaps");
    configMaps.withName("paint").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\": {\"color\": \"green\"}}");
    ConfigMapList stale = configMaps.list(new ListOptionsBuilder().withResourceVersion("0").withFieldSelector("metadata.name=paint").build());
    assertEquals("red", stale.getItems().get(0).getData().get("color"));
    kube.thaw("configmaps");

    // 9. Clock: the test moves the time of the server.
    kube.clock().advance(Duration.ofHours(1));
    String created = configMaps.resource(configMap("late", "green")).create().getMetadata().getCreationTimestamp();
    assertTrue(created.startsWith("2030-01-01T10:"), created);

    // 10. RBAC: a user without roles is forbidden.
    KubernetesClient alice = kube.clientFor(KubernetesClient.class, "alice", "developers");
    assertEquals(403, code(() -> alice.configMaps().inNamespace("default").list()));

    // 11. Webhook: the test serves the webhooks of a configuration.
    client.resource(HOOK).create();
    HttpsServer server = serve(kube.installWebhooks());
    KubernetesClientException denied = assertThrows(KubernetesClientException.class, () -> client.resource(wall("south", "red")).create());
    assertTrue(denied.getMessage().contains("denied the request: red is sold out"), denied.getMessage());
    server.stop(0);

    // 12. Story: what happened on the server.
    assertTrue(kube.story().contains("denied the request: red is sold out"), kube.story());
  }

  /** Denies every object. */
  static HttpsServer serve(Webhooks webhooks) throws IOException {
    HttpsServer server = HttpsServer.create(webhooks.address(), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(webhooks.sslContext()));
    server.createContext("/", exchange -> {
      GenericKubernetesResource review = Serialization.unmarshal(exchange.getRequestBody(), GenericKubernetesResource.class);
      review.setAdditionalProperty("response", Map.of("uid", review.get("request", "uid"), "allowed", false, "status", Map.of("message", "red is sold out")));
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(Serialization.asJson(review).getBytes());
      exchange.close();
    });
    server.start();
    return server;
  }
}
