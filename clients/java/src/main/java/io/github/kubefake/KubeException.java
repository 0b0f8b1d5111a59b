package io.github.kubefake;

/** A request to the control endpoint failed, or the server did not start. */
public final class KubeException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int code;

  KubeException(String message, int code) {
    super(message);
    this.code = code;
  }

  KubeException(String message, Throwable cause) {
    super(message, cause);
    code = 0;
  }

  /** The HTTP status code; 0 if the server did not start or did not answer. */
  public int code() {
    return code;
  }
}
