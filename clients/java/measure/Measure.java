import io.github.kubefake.Kube;

/** Prints the milliseconds of the first start of a server in a process, and the median of a hundred forks. */
class Measure {
  public static void main(String[] args) {
    long begin = System.nanoTime();
    try (Kube server = Kube.start()) {
      double start = (System.nanoTime() - begin) / 1e6;
      double[] forks = new double[100];
      for (int i = 0; i < forks.length; i++) {
        begin = System.nanoTime();
        Kube fork = server.fork();
        forks[i] = (System.nanoTime() - begin) / 1e6;
        fork.close();
      }
      java.util.Arrays.sort(forks);
      System.out.printf(java.util.Locale.ROOT, "%.1f %.1f%n", start, forks[50]);
    }
  }
}
