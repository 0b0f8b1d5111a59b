package fakeapi

import (
	"slices"

	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/profile"
)

// WithProfileFile gives the server the shape of a cluster, which fakeapi record --profile has
// written to a file: its release, the API versions that it serves, its feature gates, its
// CustomResourceDefinitions, storage, ingress and priority classes, admission policies,
// webhook configurations, and its namespaces with their labels.
//
// Webhooks are not called: the plugins MutatingAdmissionWebhook and
// ValidatingAdmissionWebhook are off, unless EnableAdmissionPlugins names them. The options
// WithRelease, and RuntimeConfig and FeatureGates of WithAPIServer, take precedence over the file. A file
// that is no profile is an ErrInvalidOption.
func WithProfileFile(name string) Option {
	return newOption("WithProfileFile", func(c *config) { c.profile = name }, name)
}

// readProfile applies WithProfileFile.
func (c *config) readProfile() error {
	if c.profile == "" {
		return nil
	}
	text, err := inputfile.Read(c.profile)
	if err != nil {
		return err
	}
	p, err := profile.Parse(text)
	if err != nil {
		return in(c.profile, optionError(err))
	}
	if c.release == "" {
		c.release = p.Release
	}
	c.runtimeConfig, c.server.FeatureGates = p.Merge(c.runtimeConfig, c.server.FeatureGates)
	objects := make([]any, len(p.Objects))
	for i, o := range p.Objects {
		objects[i] = o
	}
	c.objects = append(objects, c.objects...)
	for _, plugin := range []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"} {
		if !slices.Contains(c.server.Plugins.Enable, plugin) {
			c.server.Plugins.Disable = append(c.server.Plugins.Disable, plugin)
		}
	}
	return nil
}
