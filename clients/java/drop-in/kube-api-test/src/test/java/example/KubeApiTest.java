package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubeapitest.KubeAPIServer;
import io.fabric8.kubeapitest.junit.EnableKubeAPIServer;
import io.fabric8.kubeapitest.junit.KubeConfig;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class KubeApiTest {
  /** Checks that a server is fakeapi, with a minor release, and that it stores objects. */
  static void check(String kubeconfig, String minor) {
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig)).build()) {
      assertEquals(minor, client.getKubernetesVersion().getMinor());
      assertTrue(client.raw("/debug/fakeapi/faults").contains("faults"));
      ConfigMap wall = new ConfigMapBuilder().withNewMetadata().withName("wall").withNamespace("default").endMetadata().build();
      client.resource(wall).create();
      assertEquals(409, assertThrows(KubernetesClientException.class, () -> client.resource(wall).create()).getCode());
      client.resource(wall).delete();
      assertEquals(List.of(), client.configMaps().inNamespace("default").withField("metadata.name", "wall").list().getItems());
    }
  }

  @Nested
  @EnableKubeAPIServer
  class Annotated {
    @KubeConfig
    static String kubeconfig;

    @Test
    void newestRelease() {
      check(kubeconfig, "37");
    }
  }

  @Nested
  @EnableKubeAPIServer(kubeAPIVersion = "1.36.*", apiServerFlags = {"--feature-gates", "WatchList=false"})
  class AnnotatedWithOptions {
    @KubeConfig
    static String kubeconfig;

    @Test
    void release() {
      check(kubeconfig, "36");
    }
  }

  @Test
  void withoutAnnotation() {
    KubeAPIServer server = new KubeAPIServer();
    server.start();
    try {
      check(server.getKubeConfigYaml(), "37");
    } finally {
      server.stop();
    }
  }
}
