//go:build unix

package fakeapi

import (
	"os"
	"syscall"
)

// signals are the signals that the control endpoint sends.
var signals = map[string]os.Signal{
	"SIGKILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT,
	"SIGHUP": syscall.SIGHUP, "SIGUSR1": syscall.SIGUSR1, "SIGUSR2": syscall.SIGUSR2,
	stopSignal: syscall.SIGSTOP, continueSignal: syscall.SIGCONT,
}
