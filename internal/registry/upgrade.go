package registry

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/release"
)

// Upgrade restarts the API server of a Front with another release, newer or older. The
// objects and resource versions remain. Objects that the release before has written are read
// by the rules of the new one, and stay as they are in the store until they are written.
//
// Requests that are being served end by the rules of the release before. Watches end, and
// none starts before the present revision: the watch caches are those of a new process. The
// server brings its own objects in line with the new release. API servers with other Fronts
// go on with theirs.
//
// It does nothing if the server has the release already. It fails for plugins of
// Config.Plugins that the release does not have.
func (f *Front) Upgrade(to *release.Release) error {
	g := f.registry
	plugins, err := g.config.Plugins.Chain(to, baseOf(to).types)
	if err != nil {
		return err
	}
	if !g.swapAPI(f, to, plugins) {
		return nil
	}
	g.reloadAdmission()
	g.changed(nil, nil)
	g.flows.changed()
	return g.reconcileBootstrap(f.api.Load())
}

// swapAPI makes f serve the API of a release, and ends the watches of the API before. It
// reports whether that is another one.
func (g *Registry) swapAPI(f *Front, to *release.Release, plugins *plugin.Chain) bool {
	g.definitionsMu.Lock()
	defer g.definitionsMu.Unlock()
	was := f.api.Load()
	if was.release == to {
		return false
	}
	next := g.newReleaseAPI(plugins, builtinSurface(to))
	for _, a := range g.apis() {
		if a.release == to {
			next = a
		}
	}
	if t := g.definitionsType(); t != nil && next.served.Load().definitions.all == next.definitions.all {
		g.loadDefinitionsIn(next, t, g.allDefinitions())
	}
	f.restartCaches()
	f.api.Store(next)
	g.reconcileDefinitions(nil)
	text := fmt.Sprintf("restarted with %s after %s", to.Name(), was.release.Name())
	if f.name != "" {
		text = f.name + " " + text
	}
	g.journal.RecordNote(journal.Note{Kind: journal.Upgrade, Text: text, Revision: g.store.Revision()})
	was.restart()
	return true
}

// restartCaches makes all watch caches of a Front begin at the present revision.
func (f *Front) restartCaches() {
	f.store.RestartCaches()
	if set := f.clients.Load(); set != nil {
		for _, v := range set.views {
			v.store.RestartCaches()
		}
	}
}
