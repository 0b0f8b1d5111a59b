"""Prints the milliseconds of the first start of a server in a process, and the median of a hundred forks."""

import statistics
import time

import kubefake


def main() -> None:
    begin = time.perf_counter()
    with kubefake.Server() as server:
        start = time.perf_counter() - begin
        forks = []
        for _ in range(100):
            begin = time.perf_counter()
            fork = server.fork()
            forks.append(time.perf_counter() - begin)
            fork.close()
    print(f"{start * 1e3:.1f} {statistics.median(forks) * 1e3:.1f}")


main()
