package main

import (
	"context"
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
