package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.reflect.TypeToken;
import io.github.kubefake.Control.Fault;
import io.github.kubefake.Injection;
import io.github.kubefake.Kube;
import io.github.kubefake.Kubefake;
import io.kubernetes.client.informer.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.CallGeneratorParams;
import io.kubernetes.client.util.Watch;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The official client of the Kubernetes project. */
@Kubefake
class OfficialClientTest {
  Kube kube;
  ApiClient client;

  static V1ConfigMap configMap(String name) {
    return new V1ConfigMap().apiVersion("v1").kind("ConfigMap").metadata(new V1ObjectMeta().name(name).namespace("default")).data(Map.of("color", "red"));
  }

  @Test
  void updates() throws ApiException {
    CoreV1Api api = new CoreV1Api(client);
    V1ConfigMap wall = api.createNamespacedConfigMap("default", configMap("wall")).execute();
    try (Injection conflict = kube.inject(new Fault().verb("update").resource("configmaps").code(409).times(1))) {
      ApiException failure = assertThrows(ApiException.class, () -> api.replaceNamespacedConfigMap("wall", "default", wall.putDataItem("color", "green")).execute());
      assertEquals(409, failure.getCode());
      api.replaceNamespacedConfigMap("wall", "default", wall).execute();
      assertEquals(1, conflict.hits());
    }
    assertEquals("green", api.readNamespacedConfigMap("wall", "default").execute().getData().get("color"));
  }

  @Test
  void watches() throws Exception {
    CoreV1Api api = new CoreV1Api(client);
    String from = api.listNamespacedConfigMap("default").execute().getMetadata().getResourceVersion();
    kube.store(configMap("wall"));
    try (Watch<V1ConfigMap> watch = Watch.createWatch(client, api.listNamespacedConfigMap("default").resourceVersion(from).watch(true).buildCall(null), new TypeToken<Watch.Response<V1ConfigMap>>() {}.getType())) {
      assertEquals("wall", watch.next().object.getMetadata().getName());
    }
  }

  @Test
  void informs() throws Exception {
    CoreV1Api api = new CoreV1Api(client);
    SharedInformerFactory factory = new SharedInformerFactory(client);
    SharedIndexInformer<V1ConfigMap> informer = factory.sharedIndexInformerFor((CallGeneratorParams params) ->
        api.listNamespacedConfigMap("default").resourceVersion(params.resourceVersion).timeoutSeconds(params.timeoutSeconds).watch(params.watch).buildCall(null),
        V1ConfigMap.class, V1ConfigMapList.class);
    CompletableFuture<String> added = new CompletableFuture<>();
    informer.addEventHandler(new io.kubernetes.client.informer.ResourceEventHandler<>() {
      @Override
      public void onAdd(V1ConfigMap object) {
        if (object.getMetadata().getName().equals("wall")) {
          added.complete(object.getData().get("color"));
        }
      }

      @Override
      public void onUpdate(V1ConfigMap previous, V1ConfigMap object) {}

      @Override
      public void onDelete(V1ConfigMap object, boolean unknown) {}
    });
    factory.startAllRegisteredInformers();
    kube.store(configMap("wall"));
    assertEquals("red", added.get());
    factory.stopAllRegisteredInformers();
  }
}
