package io.github.kubefake;

import java.util.List;

/** Injected faults. {@code close} removes them. */
public final class Injection implements AutoCloseable {
  private final Control control;
  private final List<String> ids;

  Injection(Control control, List<String> ids) {
    this.control = control;
    this.ids = ids;
  }

  /** How many requests, watches and webhook calls the faults have hit. */
  public long hits() {
    return control.listFaults().faults().stream().filter(f -> ids.contains(f.fault().id())).mapToLong(Control.InjectedFault::hits).sum();
  }

  /** Ends the faults and their effects. */
  @Override
  public void close() {
    control.removeFaults(ids.toArray(new String[0]));
  }
}
