package metrics

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

// Reloads counts how often a configuration file was read again. It is safe for concurrent
// use.
type Reloads struct {
	// Name is what the file configures: "authentication" or "authorization".
	Name string

	mu      sync.Mutex // guards the fields below
	hash    string     // of the configuration in use
	results [2]reloadResult
}

// A reloadResult is how often reloads had a result, and when the last one had it.
type reloadResult struct {
	count int64
	last  time.Time
}

const (
	reloadFailure = iota
	reloadSuccess
)

// NewReloads returns the counts for a configuration that was read at the start.
func NewReloads(name string, config []byte) *Reloads {
	return &Reloads{Name: name, hash: hashOf(config)}
}

// Failed counts a configuration that is not valid or cannot be read.
func (r *Reloads) Failed(now time.Time) { r.add(reloadFailure, now) }

// Succeeded counts a configuration that is in use.
func (r *Reloads) Succeeded(now time.Time, config []byte) {
	r.add(reloadSuccess, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hash = hashOf(config)
}

func (r *Reloads) add(result int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[result].count++
	r.results[result].last = now
}

// Families returns the counts.
func (r *Reloads) Families() []Family {
	r.mu.Lock()
	defer r.mu.Unlock()
	prefix, server := "apiserver_"+r.Name+"_config_controller_", hashOf([]byte("fakeapi"))
	times := Family{Name: prefix + "automatic_reload_last_timestamp_seconds", Type: Gauge,
		Help: "Timestamp of the last automatic reload of " + r.Name + " configuration split by status and apiserver identity."}
	total := Family{Name: prefix + "automatic_reloads_total", Type: Counter,
		Help: "Total number of automatic reloads of " + r.Name + " configuration split by status and apiserver identity."}
	for i, name := range []string{"failure", "success"} {
		if result := r.results[i]; result.count > 0 {
			labels := []string{"apiserver_id_hash", server, "status", name}
			times.Samples = append(times.Samples, Sample{labels, result.last.Unix()})
			total.Samples = append(total.Samples, Sample{labels, result.count})
		}
	}
	info := Family{Name: prefix + "last_config_info", Type: Gauge,
		Help:    "Information about the last applied " + r.Name + " configuration with hash as label, split by apiserver identity.",
		Samples: []Sample{{[]string{"apiserver_id_hash", server, "hash", r.hash}, 1}}}
	families := []Family{info}
	if len(total.Samples) > 0 {
		families = append(families, times, total)
	}
	return families
}

// hashOf returns the hash of a text as labels have it, "" for "".
func hashOf(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}
