package cluster

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/serving"
)

// Upgrade restarts the API server of a Replica with another release, newer or older. The
// objects and resource versions remain. Objects that the release before has written are read
// by the rules of the new one, and stay as they are in the store until they are written.
//
// Requests that are being served end by the rules of the release before. Watches end, and
// none starts before the present revision: the watch caches are those of a new process. The
// server updates its own objects to those of the new release. API servers with other Replicas
// go on with theirs.
//
// It does nothing if the server has the release already. It fails for plugins of
// Config.Plugins that the release does not have.
func (r *Replica) Upgrade(to *release.Release) error {
	c := r.cluster
	plugins, err := c.config.Plugins.Chain(to, serving.Builtin(to))
	if err != nil {
		return err
	}
	if !c.swapAPI(r, to, plugins) {
		return nil
	}
	c.reloadAdmission()
	c.changed(nil, nil)
	c.flows.changed()
	c.electAll()
	return c.reconcileBootstrap(r.api.Load())
}

// swapAPI makes r serve the API of a release, and ends the watches of the API before. It
// reports whether that is another one.
func (c *Cluster) swapAPI(r *Replica, to *release.Release, plugins *plugin.Chain) bool {
	c.definitionsMu.Lock()
	defer c.definitionsMu.Unlock()
	was := r.api.Load()
	if was.Release == to {
		return false
	}
	next := c.newAPI(to, plugins)
	for _, a := range c.apis() {
		if a.Release == to {
			next = a
		}
	}
	if t := c.definitionsType(); t != nil {
		c.loadDefinitionsIn(next, t, c.allDefinitions())
	}
	r.restartCaches()
	r.api.Store(next)
	c.reconcileDefinitions(nil)
	text := fmt.Sprintf("restarted with %s after %s", to.Name(), was.Release.Name())
	if r.name != "" {
		text = r.name + " " + text
	}
	c.Journal().RecordNote(journal.Note{Kind: journal.Upgrade, Text: text, Revision: c.Store().Revision()})
	was.Restart()
	return true
}

// restartCaches makes all watch caches of a Replica begin at the present revision.
func (r *Replica) restartCaches() {
	r.store.RestartCaches()
	if set := r.clients.Load(); set != nil {
		for _, v := range set.views {
			v.store.RestartCaches()
		}
	}
}
