package io.github.kubefake;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Kubernetes API server for tests: a process that {@link #start} starts, or a fork of another
 * server. All methods may be called by several threads. They throw a {@link KubeException} if the
 * server answers with an error.
 */
public abstract class Kube implements AutoCloseable {
  private final String url;
  private final String kubeconfig;
  private final Path directory;
  private final Connection connection;
  private final Control control;
  private final Clock clock;
  private final List<AutoCloseable> clients = Collections.synchronizedList(new ArrayList<>());

  Kube(String url, String kubeconfig, Path directory) {
    this.url = url;
    this.kubeconfig = kubeconfig;
    this.directory = directory;
    connection = new Connection(url, kubeconfig);
    control = new Control(connection::send);
    clock = new Clock(control);
  }

  /**
   * Starts a process of the command fakeapi. It ends with {@code close}, or with this process.
   *
   * @param flags flags of {@code fakeapi serve}, such as {@code "--tls"} or {@code "--crds",
   *     "config/crd"}
   */
  public static Kube start(String... flags) {
    return Server.start(Executable.find(), Arrays.asList(flags));
  }

  /** The base URL, without a slash at its end. */
  public final String url() {
    return url;
  }

  /** The text of a kubeconfig. Its user is a member of system:masters. */
  public final String kubeconfig() {
    return kubeconfig;
  }

  /** The path of a file with the kubeconfig, for programs. It ends with the server. */
  public final Path kubeconfigFile() {
    return write(directory, "kubeconfig", kubeconfig);
  }

  /** The text of a kubeconfig of a user. The server needs the flag --tls. */
  public final String kubeconfigFor(String user, String... groups) {
    return control.kubeconfig(new Control.User().name(user).groups(groups)).kubeconfig();
  }

  /**
   * A client of fabric8 or of the official library, of which the class path must have the one that
   * is asked for. It is closed with the server.
   *
   * @param type {@code io.fabric8.kubernetes.client.KubernetesClient} or {@code
   *     io.kubernetes.client.openapi.ApiClient}
   */
  public final <T> T client(Class<T> type) {
    return newClient(type, kubeconfig);
  }

  /** A client of a user. The server needs the flag --tls. */
  public final <T> T clientFor(Class<T> type, String user, String... groups) {
    return newClient(type, kubeconfigFor(user, groups));
  }

  private <T> T newClient(Class<T> type, String kubeconfig) {
    T client = Clients.connect(type, kubeconfig);
    if (client instanceof AutoCloseable) {
      clients.add((AutoCloseable) client);
    }
    return client;
  }

  /** Every request of the control endpoint. */
  public final Control control() {
    return control;
  }

  public final Clock clock() {
    return clock;
  }

  /**
   * Starts a server with the same state, on a port of its own. The two are independent. The fork
   * ends with this server at the latest.
   */
  public final Kube fork() {
    return new Fork(this);
  }

  /**
   * Stores objects with their status, without admission and validation of their spec. An object is
   * a map, JSON, or an object of fabric8's or the official library.
   */
  public final Control.Revision store(Object... objects) {
    return control.changeObjects(new Control.Objects().store(maps(objects)));
  }

  /** Removes objects at once, without finalizers. Each needs only kind, apiVersion, and metadata. */
  public final Control.Revision remove(Object... objects) {
    return control.changeObjects(new Control.Objects().remove(maps(objects)));
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Map<String, Object>[] maps(Object[] objects) {
    return Stream.of(objects).map(Clients::toMap).toArray(Map[]::new);
  }

  /** Delays the watch caches of a resource, such as pods or deployments.apps; * is all. */
  public final Control.Lags lag(String resource, Duration by) {
    return control.lag(new Control.Lag().resource(resource).by(format(by)));
  }

  /** Stops the watch caches of a resource: reads and watches of them show what they show now. */
  public final Control.Lags freeze(String resource) {
    return control.lag(new Control.Lag().resource(resource).frozen(true));
  }

  /** Ends the lag of a resource. */
  public final Control.Lags thaw(String resource) {
    return control.endLag(resource, null);
  }

  /** Injects faults, with the fields of fault files. */
  public final Injection inject(Control.Fault... faults) {
    return new Injection(control, control.injectFaults(faults).faults().stream().map(f -> f.fault().id()).collect(Collectors.toList()));
  }

  /** Removes old versions of objects, also from watch caches: older watches get 410. */
  public final Control.Revision compact() {
    return control.compact(new Control.Compaction().watchCache(true));
  }

  /** Waits until the controllers, the watches and the clients have nothing left to do. */
  public final void settle() {
    control.settle();
  }

  /**
   * Waits as {@link #settle()}, and moves a manual clock to each next time at which a controller
   * has something to do, up to that long ahead.
   */
  public final void settle(Duration ahead) {
    control.settle(new Control.Settling().ahead(format(ahead)));
  }

  /** Lets the test serve the webhooks of the configurations that the server has. */
  public final Webhooks installWebhooks() {
    return new Webhooks(control.installWebhooks());
  }

  /** The writes in the history, with their writers. */
  public final List<Control.Write> writes() {
    return control.writes();
  }

  /** The last events on the server: who wrote what, who had not seen it, what failed. */
  public final String story() {
    return connection.read("GET", "/debug/fakeapi/story", "text/plain", null);
  }

  /** The whole story as an HTML page. */
  public final String storyPage() {
    return connection.read("GET", "/debug/fakeapi/story", "text/html", null);
  }

  /** Ends the server, its forks and its clients. Further calls do nothing. */
  @Override
  public void close() {
    synchronized (clients) {
      for (AutoCloseable client : clients) {
        try {
          client.close();
        } catch (Exception e) {
          // The connections of the client end with the server.
        }
      }
      clients.clear();
    }
  }

  final Path directory() {
    return directory;
  }

  /** Writes a file that only the user can read, and returns its path. */
  static Path write(Path directory, String name, String text) {
    try {
      Path file = Files.createTempFile(directory, name + "-", null);
      return Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A duration as the server reads it. */
  static String format(Duration d) {
    return d.toSeconds() * 1_000_000L + d.toNanosPart() / 1000 + "us";
  }

  /** A server that began with the state of another one. */
  private static final class Fork extends Kube {
    private final Kube parent;
    private final String id;
    private boolean closed;

    Fork(Kube parent) {
      this(parent, parent.control.fork());
    }

    private Fork(Kube parent, Control.Fork fork) {
      super(fork.url(), fork.kubeconfig(), parent.directory);
      this.parent = parent;
      id = fork.id();
    }

    @Override
    public synchronized void close() {
      super.close();
      if (!closed) {
        closed = true;
        parent.control.endForks(id);
      }
    }
  }
}
