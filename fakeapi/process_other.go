//go:build !unix

package fakeapi

import "os"

// signals are the signals that the control endpoint sends. This system has no others.
var signals = map[string]os.Signal{"SIGKILL": os.Kill}
