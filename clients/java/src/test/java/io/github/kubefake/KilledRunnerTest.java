package io.github.kubefake;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS)
class KilledRunnerTest {
  /** A runner that starts a server and does not end. */
  static final class Runner {
    public static void main(String[] args) throws InterruptedException {
      Kube kube = Kube.start();
      System.out.println(kube.kubeconfigFile());
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  @Test
  void leavesNothing() throws Exception {
    Path java = Paths.get(System.getProperty("java.home"), "bin", "java");
    Process runner = new ProcessBuilder(java.toString(), "-cp", System.getProperty("java.class.path"), Runner.class.getName()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    Path file = Paths.get(new BufferedReader(new InputStreamReader(runner.getInputStream())).readLine());
    ProcessHandle server = runner.toHandle().children().findFirst().orElseThrow();
    assertTrue(Files.exists(file));
    runner.destroyForcibly().waitFor();
    server.onExit().get();
    assertTrue(Files.notExists(file.getParent()));
  }
}
