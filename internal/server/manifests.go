package server

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/metrics"
)

// Manifests returns the webhooks and policies that admission plugins read from files.
func (s *Server) Manifests() []plugin.Manifests { return s.cluster.Manifests() }

// ReloadManifests reads the files of an admission plugin again. If it fails, it changes
// nothing.
func (s *Server) ReloadManifests(plugin string) error {
	now := s.config.Clock.Now()
	err := s.cluster.ReloadManifests(plugin)
	for _, m := range s.cluster.Manifests() {
		switch {
		case m.Plugin != plugin:
		case err == nil:
			s.manifestReloads.of(m, now).SucceededWith(now, m.Set.Hash)
		default:
			s.manifestReloads.of(m, now).Failed(now)
		}
	}
	return err
}

// manifestCounts count the reloads of webhooks and policies in files. Replicas share them.
type manifestCounts struct {
	mu       sync.Mutex // guards byPlugin
	byPlugin map[string]*metrics.Reloads
}

// of returns the counts of a folder. Those of a new one begin with a reload now.
func (c *manifestCounts) of(m plugin.Manifests, now time.Time) *metrics.Reloads {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byPlugin == nil {
		c.byPlugin = map[string]*metrics.Reloads{}
	}
	if c.byPlugin[m.Plugin] == nil {
		c.byPlugin[m.Plugin] = metrics.NewManifestReloads(m.Plugin, m.Set.Hash, now)
	}
	return c.byPlugin[m.Plugin]
}

// countManifests begins to count the folders that the server has not had before.
func (s *Server) countManifests(now time.Time) {
	for _, m := range s.cluster.Manifests() {
		s.manifestReloads.of(m, now)
	}
}

// reloads returns the counts of the reloads of all files.
func (s *Server) reloads() []*metrics.Reloads {
	all := s.config.Reloads[:len(s.config.Reloads):len(s.config.Reloads)]
	for _, m := range s.cluster.Manifests() {
		all = append(all, s.manifestReloads.of(m, s.config.Clock.Now()))
	}
	return all
}
