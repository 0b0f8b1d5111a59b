package cluster

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/crd"
)

// The delays of the attempts to delete the custom resources of a definition after an
// attempt failed: each is twice the one before, as in kube-apiserver.
const (
	minFinalizationDelay = 5 * time.Millisecond
	maxFinalizationDelay = 1000 * time.Second
)

// finalizations schedules the next attempt to delete the custom resources of definitions.
type finalizations struct {
	mu     sync.Mutex   // guards the fields below
	timer  *clock.Timer // nil while no attempt is scheduled
	delay  time.Duration
	closed bool

	running sync.WaitGroup // of attempts; added to under mu
}

// scheduleFinalization schedules the next attempt if the last one failed, unless there is
// one already.
func (c *Cluster) scheduleFinalization(failed bool) {
	f := &c.finalizations
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !failed:
		f.delay = 0
	case f.timer == nil && !f.closed:
		f.delay = min(max(minFinalizationDelay, 2*f.delay), maxFinalizationDelay)
		f.timer = c.Clock().AfterFunc(f.delay, c.finalizeAgain)
	}
}

// copyFinalization schedules an attempt in a fork if it has a definition that is being
// deleted.
func (c *Cluster) copyFinalization() {
	for _, d := range c.Surface().Definitions.Unsettled {
		if crd.IsTerminating(d.Object) {
			c.scheduleFinalization(true)
			return
		}
	}
}

// finalizeAgain starts the next attempt. It does not wait for the attempt: a conversion
// webhook that hangs must not stop the clock.
func (c *Cluster) finalizeAgain() {
	f := &c.finalizations
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timer = nil
	if f.closed {
		return
	}
	f.running.Add(1)
	go func() {
		defer f.running.Done()
		c.definitionsMu.Lock()
		defer c.definitionsMu.Unlock()
		c.reconcileDefinitions(nil)
	}()
}

// close ends the attempts, and waits for one that runs.
func (f *finalizations) close() {
	f.mu.Lock()
	f.closed = true
	if f.timer != nil {
		f.timer.Stop()
	}
	f.mu.Unlock()
	f.running.Wait()
}
