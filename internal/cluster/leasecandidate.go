package cluster

import (
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/semver"
	"github.com/kubefake/kubefake/internal/storage"
)

const (
	// candidateLifetime is how long a LeaseCandidate is valid after it was renewed.
	candidateLifetime = 30 * time.Minute

	oldestEmulationVersion = "OldestEmulationVersion"
)

// A leaseCandidate is a component that can lead.
type leaseCandidate struct {
	stored            *storage.Object
	name, strategy    string
	binary, emulation semver.Version // zero if they are no versions
	hasVersions       bool
	created           time.Time
	renewed, pinged   time.Time // zero without
}

func newLeaseCandidate(stored *storage.Object, obj object.View) leaseCandidate {
	c := leaseCandidate{
		stored: stored, name: stored.Name, strategy: obj.String("spec", "strategy"),
		created: timeAt(obj, "metadata", "creationTimestamp"),
		renewed: timeAt(obj, "spec", "renewTime"), pinged: timeAt(obj, "spec", "pingTime"),
	}
	var binaryErr, emulationErr error
	c.binary, binaryErr = semver.ParseTolerant(obj.String("spec", "binaryVersion"))
	c.emulation, emulationErr = semver.ParseTolerant(obj.String("spec", "emulationVersion"))
	c.hasVersions = binaryErr == nil && emulationErr == nil
	return c
}

// timeAt returns the time at a path, zero if there is none.
func timeAt(obj object.View, path ...string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, obj.String(path...))
	if err != nil {
		return time.Time{}
	}
	return t
}

// waitsForAnswer reports whether the candidate has not been renewed since it was pinged.
func (c *leaseCandidate) waitsForAnswer() bool { return c.renewed.Before(c.pinged) }

// within reports whether now is less than d after t.
func within(d time.Duration, t, now time.Time) bool { return t.Add(d).After(now) }

// expired reports whether the candidate is not valid any more. One that was never renewed is not
// valid, and expires as if it had been renewed when it was created.
func (c *leaseCandidate) expired(now time.Time) bool {
	since := c.renewed
	if since.IsZero() {
		since = c.created
	}
	return since.Add(candidateLifetime).Before(now)
}

// bestStrategy returns the strategy of the candidates with the newest binary version. It reports
// false if these differ.
func bestStrategy(candidates []leaseCandidate) (strategy string, ok bool) {
	newest := candidates[0]
	for _, c := range candidates[1:] {
		switch order := newest.binary.Compare(c.binary); {
		case order < 0:
			newest = c
		case order == 0 && c.strategy != newest.strategy:
			return "", false
		}
	}
	return newest.strategy, true
}

// bestCandidate returns the name of the candidate with the oldest emulation version, of those
// the one with the oldest binary version, of those the one that was created first. It is "" if
// no candidate has versions.
func bestCandidate(candidates []leaseCandidate) string {
	valid := slices.DeleteFunc(slices.Clone(candidates), func(c leaseCandidate) bool { return !c.hasVersions })
	if len(valid) == 0 {
		return ""
	}
	return slices.MinFunc(valid, func(a, b leaseCandidate) int {
		if order := a.emulation.Compare(b.emulation); order != 0 {
			return order
		}
		if order := a.binary.Compare(b.binary); order != 0 {
			return order
		}
		return a.created.Compare(b.created)
	}).name
}
