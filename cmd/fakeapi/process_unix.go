//go:build !windows

package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// waitForParent returns when the parent of this process has ended, or ctx ends. On
// Unix a process whose parent ends gets another one.
func waitForParent(ctx context.Context) {
	parent := os.Getppid()
	ticker := time.NewTicker(parentPoll)
	defer ticker.Stop()
	for os.Getppid() == parent {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// isAlive reports whether a process exists, of this user or another one.
func isAlive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
