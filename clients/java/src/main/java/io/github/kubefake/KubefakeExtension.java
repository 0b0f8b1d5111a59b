package io.github.kubefake;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** What {@link Kubefake} does. */
final class KubefakeExtension implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(KubefakeExtension.class);

  /** The processes, by their flags. They end with this process. */
  private static final Map<List<String>, Kube> PROCESSES = new ConcurrentHashMap<>();

  @Override
  public void beforeAll(ExtensionContext context) {
    // A nested class without options begins with the state of the class around it.
    Kube outer = context.getParent().map(p -> p.getStore(NAMESPACE).get("server", Kube.class)).orElse(null);
    Kubefake own = context.getRequiredTestClass().getAnnotation(Kubefake.class);
    context.getStore(NAMESPACE).put("server", own == null && outer != null ? outer.fork() : fork(own));
  }

  @Override
  public void afterAll(ExtensionContext context) {
    Kube server = context.getStore(NAMESPACE).remove("server", Kube.class);
    if (server != null) { // it has started
      server.close();
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IllegalAccessException {
    Servers servers = new Servers(context.getStore(NAMESPACE).get("server", Kube.class));
    context.getStore(NAMESPACE).put("servers", servers);
    for (Object test : context.getRequiredTestInstances().getAllInstances()) {
      for (Class<?> c = test.getClass(); c != null; c = c.getSuperclass()) {
        for (Field field : c.getDeclaredFields()) {
          if (!Modifier.isStatic(field.getModifiers()) && isInjected(field.getType())) {
            field.setAccessible(true);
            field.set(test, servers.inject(field));
          }
        }
      }
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Servers servers = context.getStore(NAMESPACE).remove("servers", Servers.class);
    if (servers == null) { // beforeEach has not run
      return;
    }
    context.getExecutionException().ifPresent(servers::attachStories);
    servers.close();
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    // What a constructor gets would be the server of the class.
    return isInjected(parameter.getParameter().getType()) && !(parameter.getDeclaringExecutable() instanceof Constructor);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    Store store = context.getStore(NAMESPACE);
    Servers servers = store.get("servers", Servers.class);
    return of(servers == null ? store.get("server", Kube.class) : servers.test(), type);
  }

  private static boolean isInjected(Class<?> type) {
    return type == Kube.class || Clients.supports(type);
  }

  private static Object of(Kube kube, Class<?> type) {
    return type == Kube.class ? kube : kube.client(type);
  }

  /** Returns a fork of the process with these options. */
  private static Kube fork(Kubefake options) {
    return PROCESSES.computeIfAbsent(flags(options), flags -> Kube.start(flags.toArray(new String[0]))).fork();
  }

  private static List<String> flags(Kubefake options) {
    List<String> out = new ArrayList<>();
    if (!options.release().isEmpty()) {
      Collections.addAll(out, "--release", options.release());
    }
    if (options.controllers().length > 0) {
      Collections.addAll(out, "--controllers", String.join(",", options.controllers()));
    }
    addAll(out, "--crds", options.crds());
    addAll(out, "--objects", options.objects());
    addAll(out, "--faults", options.faults());
    if (options.rbac()) {
      Collections.addAll(out, "--tls", "--authorization-mode", "RBAC");
    }
    if (!options.clock().isEmpty()) {
      Collections.addAll(out, "--manual-clock", options.clock());
    }
    Collections.addAll(out, options.flags());
    return out;
  }

  private static void addAll(List<String> out, String flag, String[] values) {
    for (String value : values) {
      Collections.addAll(out, flag, value);
    }
  }

  /** The servers of a test. They start when they are used. */
  private static final class Servers implements AutoCloseable {
    private final Kube server; // of the class
    private final List<Kube> started = new ArrayList<>();
    private Kube test;

    Servers(Kube server) {
      this.server = server;
    }

    synchronized Kube test() {
      if (test == null) {
        test = server.fork();
        started.add(test);
      }
      return test;
    }

    Object inject(Field field) {
      Kubefake own = field.getAnnotation(Kubefake.class);
      if (own == null) {
        return of(test(), field.getType());
      }
      Kube kube = fork(own);
      started.add(kube);
      return of(kube, field.getType());
    }

    void attachStories(Throwable failure) {
      for (Kube kube : started) {
        try {
          failure.addSuppressed(new Story(kube.story()));
        } catch (KubeException e) {
          failure.addSuppressed(e);
        }
      }
    }

    @Override
    public void close() {
      started.forEach(Kube::close);
    }
  }

  /** The story of a server, where reports show exceptions. */
  private static final class Story extends Throwable {
    private static final long serialVersionUID = 1;

    Story(String text) {
      super(text, null, false, false);
    }

    @Override
    public String toString() {
      return "fakeapi story\n" + getMessage();
    }
  }
}
