package io.github.kubefake;

import java.io.IOException;
import java.io.StringReader;
import java.util.Map;

/** Makes clients of the libraries that the class path has, and reads their objects. */
final class Clients {
  private static final String FABRIC8 = "io.fabric8.kubernetes.client.KubernetesClient";
  private static final String OFFICIAL = "io.kubernetes.client.openapi.ApiClient";

  private Clients() {}

  static boolean supports(Class<?> type) {
    return type.getName().equals(FABRIC8) || type.getName().equals(OFFICIAL);
  }

  static <T> T connect(Class<T> type, String kubeconfig) {
    switch (type.getName()) {
      case FABRIC8:
        return type.cast(Fabric8.connect(kubeconfig));
      case OFFICIAL:
        return type.cast(Official.connect(kubeconfig));
      default:
        throw new IllegalArgumentException(type.getName() + " is neither " + FABRIC8 + " nor " + OFFICIAL);
    }
  }

  /** Returns the fields of an object, which is a map, JSON, or an object of one of the libraries. */
  static Map<String, Object> toMap(Object object) {
    return Json.fields(object instanceof Map ? object : Json.read(toJson(object)));
  }

  private static String toJson(Object object) {
    if (object instanceof CharSequence) {
      return object.toString();
    }
    String name = object.getClass().getName();
    if (name.startsWith("io.kubernetes.client.")) {
      return Official.toJson(object);
    }
    return Fabric8.toJson(object);
  }

  /** What needs fabric8's library. It is loaded when it is used. */
  private static final class Fabric8 {
    static Object connect(String kubeconfig) {
      var config = new io.fabric8.kubernetes.client.ConfigBuilder(io.fabric8.kubernetes.client.Config.fromKubeconfig(kubeconfig)).withNamespace("default").build();
      return new io.fabric8.kubernetes.client.KubernetesClientBuilder().withConfig(config).build();
    }

    static String toJson(Object object) {
      return io.fabric8.kubernetes.client.utils.Serialization.asJson(object);
    }
  }

  /** What needs the official library. It is loaded when it is used. */
  private static final class Official {
    static Object connect(String kubeconfig) {
      try {
        return io.kubernetes.client.util.Config.fromConfig(new StringReader(kubeconfig));
      } catch (IOException e) {
        throw new KubeException("the official client does not read the kubeconfig: " + e, e);
      }
    }

    static String toJson(Object object) {
      return io.kubernetes.client.openapi.JSON.serialize(object);
    }
  }
}
