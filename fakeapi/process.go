package fakeapi

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/status"
)

// WithProcess names a process to which the control endpoint can send signals, and so can
// faults and scenarios in files:
//
//	do: [{signal: {process: manager, signal: SIGKILL}}]
//
// send sends a signal to the process, as the method Signal of os.Process does. It may be
// called by several goroutines at a time. The Do of a Fault in Go needs no name for a
// process.
func WithProcess(name string, send func(os.Signal) error) Option {
	return newOption("WithProcess", func(c *config) {
		if c.processes == nil {
			c.processes = map[string]func(os.Signal) error{}
		}
		c.processes[name] = send
	}, name, send)
}

// stopped are the processes that wait for SIGCONT.
type stopped struct {
	mu     sync.Mutex // guards timers
	timers map[string]*clock.Timer
}

// Signal sends a signal to a process of WithProcess.
func (h *host) Signal(in control.Signal) error {
	send := h.server.config.processes[in.Process]
	if send == nil {
		names := slices.Sorted(maps.Keys(h.server.config.processes))
		if names == nil {
			return status.BadRequest("process: the server knows no process; fakeapi serve --process names them")
		}
		return status.BadRequest(fmt.Sprintf("process: %q is not one of %s", in.Process, strings.Join(names, ", ")))
	}
	sig, known := signals[in.Signal]
	if !known {
		return status.BadRequest(fmt.Sprintf("signal: %q is not one of %s", in.Signal, strings.Join(slices.Sorted(maps.Keys(signals)), ", ")))
	}
	var pause time.Duration
	if in.Duration != "" {
		var err error
		if pause, err = time.ParseDuration(in.Duration); err != nil || pause <= 0 {
			return status.BadRequest(fmt.Sprintf("duration: %q is not a positive duration, such as 15s", in.Duration))
		}
		if in.Signal != stopSignal {
			return status.BadRequest("duration: only " + stopSignal + " ends after a time")
		}
	}
	if err := send(sig); err != nil {
		return status.Unavailable(fmt.Sprintf("process %s: %v", in.Process, err))
	}
	h.stopped.mu.Lock()
	defer h.stopped.mu.Unlock()
	if timer := h.stopped.timers[in.Process]; timer != nil {
		timer.Stop()
		delete(h.stopped.timers, in.Process)
	}
	if pause == 0 {
		return nil
	}
	if h.stopped.timers == nil {
		h.stopped.timers = map[string]*clock.Timer{}
	}
	h.stopped.timers[in.Process] = h.server.api.Cluster().Clock().AfterFunc(pause, func() {
		_ = send(signals[continueSignal]) // the process may have ended
	})
	return nil
}

// continueStopped lets the processes continue that would do so later.
func (h *host) continueStopped() {
	h.stopped.mu.Lock()
	defer h.stopped.mu.Unlock()
	for name, timer := range h.stopped.timers {
		timer.Stop()
		_ = h.server.config.processes[name](signals[continueSignal]) // the process may have ended
	}
	h.stopped.timers = nil
}

// The names of the signals that stop a process and let it continue.
const (
	stopSignal     = "SIGSTOP"
	continueSignal = "SIGCONT"
)
