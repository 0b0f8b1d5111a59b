package cluster

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission/dynamic"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/serving"
)

// reloadAdmission compiles the policies and webhooks that are in the store now.
func (c *Cluster) reloadAdmission() {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	for _, a := range c.apis() {
		c.reloadAdmissionIn(a)
	}
}

// reloadAdmissionIn is reloadAdmission for the API of one release.
func (c *Cluster) reloadAdmissionIn(a *serving.API) {
	var all []dynamic.Configuration
	for _, m := range a.Manifests {
		all = append(all, m.Set.Configurations...)
	}
	for t := range a.Builtin.All() {
		if t.Group == dynamic.Group && t.GroupVersion == t.Stored && !t.Virtual() && a.Plugins.Enabled(configuredPlugins[t.Name]) {
			for o := range c.Store().All(t.Prefix) {
				all = append(all, dynamic.Configuration{ID: o, Object: o.Decode(t)})
			}
		}
	}
	a.SetPolicies(dynamic.New(all, a.Policies(), c.config.Coverage.Profile()))
}

// Manifests returns the webhooks and policies of the first API server that are in files.
func (c *Cluster) Manifests() []plugin.Manifests {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	return c.api().Manifests
}

// ReloadManifests reads the folder of a plugin again, for each release that is served. If it
// fails, it changes nothing.
func (c *Cluster) ReloadManifests(name string) error {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	read := map[*serving.API][]plugin.Manifests{}
	for _, a := range c.apis() {
		i := slices.IndexFunc(a.Manifests, func(m plugin.Manifests) bool { return m.Plugin == name })
		if i < 0 {
			continue
		}
		set, err := a.Manifests[i].Load()
		if err != nil {
			return err
		}
		read[a] = slices.Clone(a.Manifests)
		read[a][i].Set = set
	}
	for a, manifests := range read {
		a.Manifests = manifests
		c.reloadAdmissionIn(a)
	}
	return nil
}

// configuredPlugins are the plugins that run webhooks and policies, by the resources of
// their configurations.
var configuredPlugins = map[string]string{
	"mutatingadmissionpolicies":         "MutatingAdmissionPolicy",
	"mutatingadmissionpolicybindings":   "MutatingAdmissionPolicy",
	"mutatingwebhookconfigurations":     "MutatingAdmissionWebhook",
	"validatingadmissionpolicies":       "ValidatingAdmissionPolicy",
	"validatingadmissionpolicybindings": "ValidatingAdmissionPolicy",
	"validatingwebhookconfigurations":   "ValidatingAdmissionWebhook",
}
