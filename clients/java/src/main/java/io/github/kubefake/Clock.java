package io.github.kubefake;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;

/** The clock of a server. The flag --manual-clock stops it. */
public final class Clock {
  private final Control control;

  Clock(Control control) {
    this.control = control;
  }

  /** The time of the server. */
  public Instant now() {
    return OffsetDateTime.parse(control.clock().now()).toInstant();
  }

  /** Moves the clock forward, and runs the timers that are due. */
  public void advance(Duration by) {
    control.advanceClock(new Control.Advance().advance(Kube.format(by)));
  }
}
