package main

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// waitForParent returns when the parent of this process has ended, or ctx ends.
func waitForParent(ctx context.Context) {
	parent, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil { // it has ended
		return
	}
	defer syscall.CloseHandle(parent)
	for ctx.Err() == nil {
		event, err := syscall.WaitForSingleObject(parent, uint32(parentPoll.Milliseconds()))
		if err != nil || event != syscall.WAIT_TIMEOUT {
			return
		}
	}
}

// isAlive reports whether a process runs, of this user or another one.
func isAlive(pid int) bool {
	process, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return errors.Is(err, syscall.ERROR_ACCESS_DENIED)
	}
	defer syscall.CloseHandle(process)
	event, err := syscall.WaitForSingleObject(process, 0)
	return err == nil && event == syscall.WAIT_TIMEOUT
}
