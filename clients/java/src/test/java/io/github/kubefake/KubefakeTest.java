package io.github.kubefake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.github.kubefake.Control.Fault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Tests of the package that need no client library. */
@Kubefake(clock = "2030-01-01T09:00:00Z")
class KubefakeTest {
  static final String CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

  Kube kube;

  @BeforeAll
  static void world(Kube server) {
    server.store(configMap("shared"));
  }

  static Map<String, Object> configMap(String name) {
    return Map.of("apiVersion", "v1", "kind", "ConfigMap", "metadata", Map.of("name", name, "namespace", "default"));
  }

  static List<String> names(Kube kube, String query) {
    Map<String, Object> list = Json.fields(get(kube, kube.kubeconfig(), CONFIG_MAPS + query));
    return Json.list(Json::fields).apply(list.get("items")).stream().map(o -> Json.fields(o.get("metadata")).get("name").toString())
        .filter(name -> !name.startsWith("kube-")).collect(Collectors.toList());
  }

  static Object get(Kube kube, String kubeconfig, String path) {
    return new Connection(kube.url(), kubeconfig).send("GET", path, Map.of(), null);
  }

  @RepeatedTest(20)
  void eachTestHasAFork(Kube parameter) {
    assertEquals(kube, parameter);
    assertEquals(List.of("shared"), names(kube, ""));
    kube.store(configMap("own"), Json.write(configMap("written")));
    assertEquals(List.of("own", "shared", "written"), names(kube, ""));
    kube.remove(configMap("own"));
    assertEquals(List.of("shared", "written"), names(kube, ""));
  }

  @Nested
  class Inner {
    Kube inner;

    @BeforeAll
    static void more(Kube server) {
      server.store(configMap("inner"));
    }

    @Test
    void hasTheStateOfTheOuterClass() {
      assertEquals(kube, inner);
      assertEquals(List.of("inner", "shared"), names(inner, ""));
    }
  }

  @Nested
  class Secured {
    @Kubefake(rbac = true)
    Kube secured;

    @Test
    void authorizesUsers() throws IOException {
      assertTrue(secured.url().startsWith("https:"));
      assertEquals(List.of(), names(secured, ""));
      String alice = secured.kubeconfigFor("alice", "developers");
      KubeException failure = assertThrows(KubeException.class, () -> get(secured, alice, CONFIG_MAPS));
      assertEquals(403, failure.code());
      assertTrue(failure.getMessage().contains("User \"alice\" cannot list"), failure.getMessage());
      assertEquals(secured.kubeconfig(), Files.readString(secured.kubeconfigFile()));
    }
  }

  @Test
  void forksEnd() {
    Kube fork = kube.fork();
    assertEquals(List.of("shared"), names(fork, ""));
    assertEquals(1, kube.control().listForks().forks().size());
    fork.close();
    fork.close();
    assertEquals(0, kube.control().listForks().forks().size());
    assertThrows(KubeException.class, fork::story);
  }

  @Test
  void freezesCaches() {
    kube.freeze("configmaps");
    kube.store(configMap("new"));
    assertEquals(List.of("shared"), names(kube, "?resourceVersion=0"));
    kube.thaw("configmaps");
    assertEquals("2s", kube.lag("configmaps", Duration.ofSeconds(2)).lags().get(0).by());
  }

  @Test
  void injectsFaults() {
    try (Injection fault = kube.inject(new Fault().verb("list").resource("configmaps").code(429).retryAfter("1s"))) {
      KubeException failure = assertThrows(KubeException.class, () -> names(kube, ""));
      assertEquals(429, failure.code());
      assertEquals(1, fault.hits());
    }
    assertEquals(List.of("shared"), names(kube, ""));
    KubeException failure = assertThrows(KubeException.class, () -> kube.inject(new Fault().code(99)));
    assertEquals(400, failure.code());
  }

  @Test
  void movesTheClock() {
    kube.clock().advance(Duration.ofMinutes(10).plusMillis(1500));
    assertEquals(Instant.parse("2030-01-01T09:10:01.500Z"), kube.clock().now());
    kube.settle(Duration.ofHours(1));
  }

  @Test
  void compacts() {
    long old = kube.store(configMap("a")).revision();
    kube.store(configMap("b"));
    kube.compact();
    KubeException failure = assertThrows(KubeException.class, () -> names(kube, "?resourceVersionMatch=Exact&resourceVersion=" + old));
    assertEquals(410, failure.code());
  }

  @Test
  void hasAStory() {
    kube.store(configMap("told"));
    assertTrue(kube.story().contains("store configmaps default/told"), kube.story());
    assertTrue(kube.storyPage().contains("<title>"));
    List<Control.Write> writes = kube.writes();
    assertEquals("told", writes.get(writes.size() - 1).changes().get(0).name());
    assertEquals(1, kube.control().story().format());
  }

  @Test
  void callsWebhooks() throws IOException {
    kube.store("""
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "shop"},
         "webhooks": [{"name": "deny.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
           "clientConfig": {"service": {"namespace": "shop", "name": "admission"}},
           "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}]}
        """);
    Webhooks webhooks = kube.installWebhooks();
    HttpsServer server = HttpsServer.create(webhooks.address(), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(webhooks.sslContext()));
    server.createContext("/", exchange -> {
      Map<String, Object> review = Json.fields(Json.read(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
      Object uid = Json.fields(review.get("request")).get("uid");
      review.put("response", Map.of("uid", uid, "allowed", false, "status", Map.of("message", "no")));
      byte[] answer = Json.write(review).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.start();
    try {
      Connection connection = new Connection(kube.url(), kube.kubeconfig());
      KubeException failure = assertThrows(KubeException.class, () -> connection.send("POST", CONFIG_MAPS, Map.of(), configMap("denied")));
      assertTrue(failure.getMessage().contains("webhook \"deny.example.com\" denied the request: no"), failure.getMessage());
    } finally {
      server.stop(0);
    }
  }

  @Test
  void twoHundredForksAtOnceLeaveNothing() throws Exception {
    Kube server = Kube.start();
    CyclicBarrier started = new CyclicBarrier(200);
    ExecutorService threads = Executors.newFixedThreadPool(200);
    List<Future<Kube>> forks = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      forks.add(threads.submit(() -> {
        try (Kube fork = server.fork()) {
          started.await();
          fork.store(configMap("own"));
          assertEquals(List.of("own"), names(fork, ""));
          return fork;
        }
      }));
    }
    for (Future<Kube> fork : forks) {
      assertThrows(KubeException.class, fork.get()::story);
    }
    threads.shutdown();
    assertEquals(0, server.control().listForks().forks().size());
    server.close();
    assertThrows(KubeException.class, server::story);
  }

  @Test
  void saysWhyAServerDoesNotStart() {
    KubeException failure = assertThrows(KubeException.class, () -> Kube.start("--none"));
    assertTrue(failure.getMessage().contains("unknown flag: --none"), failure.getMessage());
    assertThrows(KubeException.class, () -> Server.start(Paths.get("/none"), List.of()));
  }

  @Test
  void aServerEnds() {
    Kube server = Kube.start();
    Path file = server.kubeconfigFile();
    server.close();
    server.close();
    assertThrows(KubeException.class, server::story);
    assertFalse(Files.exists(file.getParent()));
  }
}
