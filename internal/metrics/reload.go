package metrics

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Reloads counts how often a configuration file was read again. It is safe for concurrent
// use.
type Reloads struct {
	// Name is what the file configures: "authentication", "authorization" or
	// "manifest_admission".
	Name string

	plugin string // the admission plugin, "" if it is not for one

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

// NewManifestReloads returns the counts for the folder of an admission plugin that was read at
// the start, which counts as a reload. hash is that of its files.
func NewManifestReloads(plugin, hash string, now time.Time) *Reloads {
	r := &Reloads{Name: "manifest_admission", plugin: plugin}
	r.SucceededWith(now, hash)
	return r
}

// Failed counts a configuration that is not valid or cannot be read.
func (r *Reloads) Failed(now time.Time) { r.add(reloadFailure, now) }

// Succeeded counts a configuration that is in use.
func (r *Reloads) Succeeded(now time.Time, config []byte) { r.SucceededWith(now, hashOf(config)) }

// SucceededWith counts a configuration with a hash.
func (r *Reloads) SucceededWith(now time.Time, hash string) {
	r.add(reloadSuccess, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hash = hash
}

func (r *Reloads) add(result int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[result].count++
	r.results[result].last = now
}

// ReloadFamilies returns the families of all counts. Those of one name share their families.
func ReloadFamilies(all []*Reloads) (families []Family) {
	for _, r := range all {
		for _, f := range r.families() {
			at := slices.IndexFunc(families, func(have Family) bool { return have.Name == f.Name })
			if at < 0 {
				families = append(families, f)
			} else {
				families[at].Samples = append(families[at].Samples, f.Samples...)
			}
		}
	}
	return families
}

// families returns the counts.
func (r *Reloads) families() []Family {
	r.mu.Lock()
	defer r.mu.Unlock()
	server, stability := hashOf([]byte("fakeapi")), Beta
	subject, by, infoBy := r.Name, "split by status and apiserver identity", "split by apiserver identity"
	if r.plugin != "" {
		stability = Alpha
		subject, by, infoBy = "admission manifest", "split by status, plugin, and apiserver identity", "split by plugin and apiserver identity"
	}
	// labels returns the labels, sorted by name.
	labels := func(name, value string) []string {
		out := []string{"apiserver_id_hash", server}
		switch {
		case r.plugin == "":
			return append(out, name, value)
		case name < "plugin":
			return append(out, name, value, "plugin", r.plugin)
		}
		return append(out, "plugin", r.plugin, name, value)
	}
	prefix := "apiserver_" + r.Name + "_config_controller_"
	times := Family{Name: prefix + "automatic_reload_last_timestamp_seconds", Type: Gauge, Stability: stability,
		Help: "Timestamp of the last automatic reload of " + subject + " configuration " + by + "."}
	total := Family{Name: prefix + "automatic_reloads_total", Type: Counter, Stability: stability,
		Help: "Total number of automatic reloads of " + subject + " configuration " + by + "."}
	for i, name := range []string{"failure", "success"} {
		if result := r.results[i]; result.count > 0 {
			times.Samples = append(times.Samples, Sample{Labels: labels("status", name), Value: float64(result.last.UnixNano()) / 1e9})
			total.Samples = append(total.Samples, Sample{Labels: labels("status", name), Value: float64(result.count)})
		}
	}
	info := Family{Name: prefix + "last_config_info", Type: Gauge, Stability: Alpha,
		Help:    "Information about the last applied " + subject + " configuration with hash as label, " + infoBy + ".",
		Samples: []Sample{{Labels: labels("hash", r.hash), Value: 1}}}
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
