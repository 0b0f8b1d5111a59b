package io.github.kubefake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

class StoryTest {
  @Kubefake
  static final class Failing {
    @Test
    void fails(Kube kube) {
      kube.store(KubefakeTest.configMap("broken"));
      fail("the wall is not green");
    }

    @Test
    void passes(Kube kube) {}

    @Test
    void failsWithoutServer() {
      fail("nothing is green");
    }
  }

  @Test
  void theReportOfAFailedTestHasTheStory() {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Failing.class)).build(), listener);
    assertEquals(2, listener.getSummary().getTestsFailedCount());
    String report = "";
    for (var failure : listener.getSummary().getFailures()) {
      StringWriter trace = new StringWriter();
      failure.getException().printStackTrace(new PrintWriter(trace));
      report += trace;
    }
    assertTrue(report.contains("Suppressed: fakeapi story\n"), report);
    assertTrue(report.contains("store configmaps default/broken"), report);
    assertEquals(report.indexOf("fakeapi story"), report.lastIndexOf("fakeapi story"), report);
  }
}
