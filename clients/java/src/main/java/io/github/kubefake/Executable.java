package io.github.kubefake;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Optional;

/** Finds the command fakeapi. */
final class Executable {
  private Executable() {}

  /** FAKEAPI_BINARY, the executable of a jar in the class path, or the one in PATH. */
  static Path find() {
    String named = System.getProperty("fakeapi.binary", System.getenv("FAKEAPI_BINARY"));
    if (named != null && !named.isEmpty()) {
      return Paths.get(named);
    }
    String file = windows() ? "fakeapi.exe" : "fakeapi";
    return carried(file).or(() -> inPath(file)).orElseThrow(() -> new KubeException(
        "there is no command fakeapi: set FAKEAPI_BINARY, add the dependency io.github.kubefake:fakeapi with the classifier "
            + platform() + ", or install it with go install github.com/kubefake/kubefake/cmd/fakeapi@latest and put it in PATH", 0));
  }

  /** The name of the platform, which is the classifier of the jar with its executable. */
  static String platform() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch");
    return (windows() ? "windows" : os.startsWith("mac") ? "osx" : os) + "-" + (arch.equals("amd64") ? "x86_64" : arch.equals("aarch64") ? "aarch_64" : arch);
  }

  private static boolean windows() {
    return System.getProperty("os.name").startsWith("Windows");
  }

  /** The executable of a jar. It is extracted once, to the user's cache directory. */
  private static Optional<Path> carried(String file) {
    String folder = "/io/github/kubefake/bin/" + platform() + "/";
    try (InputStream sum = Executable.class.getResourceAsStream(folder + "sha256"); InputStream executable = Executable.class.getResourceAsStream(folder + file)) {
      if (sum == null || executable == null) {
        return Optional.empty();
      }
      Path target = cache().resolve(new String(sum.readAllBytes()).trim()).resolve(file);
      if (!Files.exists(target)) {
        extract(executable, target);
      }
      return Optional.of(target);
    } catch (IOException e) {
      throw new KubeException("the executable of the jar cannot be extracted: " + e, e);
    }
  }

  private static void extract(InputStream executable, Path target) throws IOException {
    Files.createDirectories(target.getParent());
    Path part = Files.createTempFile(target.getParent(), "part", null);
    try {
      Files.copy(executable, part, StandardCopyOption.REPLACE_EXISTING);
      part.toFile().setExecutable(true);
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileAlreadyExistsException e) {
      // Another process was faster.
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private static Path cache() {
    String xdg = System.getenv("XDG_CACHE_HOME");
    Path home = Paths.get(System.getProperty("user.home"));
    return (xdg == null || xdg.isEmpty() ? home.resolve(".cache") : Paths.get(xdg)).resolve("kubefake");
  }

  private static Optional<Path> inPath(String file) {
    String path = System.getenv("PATH");
    for (String dir : (path == null ? "" : path).split(java.io.File.pathSeparator)) {
      Path candidate = Paths.get(dir, file);
      if (Files.isExecutable(candidate)) {
        return Optional.of(candidate);
      }
    }
    return Optional.empty();
  }
}
