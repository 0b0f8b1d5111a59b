package io.github.kubefake;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A process of the command fakeapi, with a directory that it deletes at its end. */
final class Server extends Kube {
  private final Process process;
  private final Thread atExit = new Thread(this::end);

  private Server(Process process, String url, String kubeconfig, Path directory) {
    super(url, kubeconfig, directory);
    this.process = process;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  static Server start(Path executable, List<String> flags) {
    try {
      Path directory = createDirectory();
      try {
        return start(executable, flags, directory);
      } catch (IOException | RuntimeException e) {
        delete(directory);
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Server start(Path executable, List<String> flags, Path directory) throws IOException {
    Path kubeconfig = directory.resolve("kubeconfig");
    Path messages = directory.resolve("stderr");
    List<String> command = new ArrayList<>(Arrays.asList(executable.toString(), "serve", "--listen", "127.0.0.1:0", "--quiet",
        "--with-parent", "--delete-at-end", directory.toString(), "--kubeconfig", kubeconfig.toString()));
    command.addAll(flags);
    Process process;
    try {
      process = new ProcessBuilder(command).redirectError(messages.toFile()).start();
    } catch (IOException e) {
      throw new KubeException(e.getMessage(), e);
    }
    process.getOutputStream().close();
    String url = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
    if (url == null) {
      String message = Files.readString(messages).trim();
      throw new KubeException(message.isEmpty() ? "fakeapi serve has ended" : message, 0);
    }
    return new Server(process, url, Files.readString(kubeconfig), directory);
  }

  /**
   * Creates a directory that only the user can read. {@code Files.createTempDirectory} takes 40 ms the first
   * time, because it needs a {@code SecureRandom}. Here the name need not be secret: a directory that exists
   * is an error.
   */
  private static Path createDirectory() throws IOException {
    Path directory = Paths.get(System.getProperty("java.io.tmpdir"), "fakeapi" + Long.toHexString(ThreadLocalRandom.current().nextLong()));
    if (!directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return Files.createDirectory(directory); // the directory for temporary files is the user's own
    }
    return Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.collect(Collectors.toList())) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  private void end() {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    super.close();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The process is ending, and ends the server too.
    }
    end();
  }
}
