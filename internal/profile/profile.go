// Package profile describes the shape of a cluster: the release of its kube-apiserver, the
// API versions that it serves, its feature gates, and the objects that decide how it
// answers. A profile is recorded from a cluster, and kept in a file in YAML.
package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

// format is the format of the file.
const format = 1

// A Profile is the shape of a cluster.
type Profile struct {
	Format int `json:"fakeapiProfile"`

	// Version is that of the kube-apiserver, such as v1.35.2 or v1.34.1-eks-113cf36.
	Version string `json:"version"`

	// Release is the release that is served for it.
	Release string `json:"release"`

	// RuntimeConfig has the API versions that the cluster serves or does not serve otherwise
	// than the release by default.
	RuntimeConfig release.RuntimeConfig `json:"runtimeConfig,omitempty"`

	// FeatureGates are those that do not have the default of the release.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`

	// Objects are CustomResourceDefinitions, classes, admission policies, webhook
	// configurations and namespaces.
	Objects []map[string]any `json:"objects"`
}

// Parse reads a profile.
func Parse(text []byte) (*Profile, error) {
	p := &Profile{}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return nil, explain.Error(nil, p, err)
	}
	if p.Format != format {
		return nil, errors.New("it is not a profile of fakeapi record --profile of this version")
	}
	return p, nil
}

// Encode returns the file of a profile.
func (p *Profile) Encode() ([]byte, error) { return yaml.Marshal(p) }

// Merge adds the runtime configuration and the feature gates of the profile to those that are
// given, which take precedence.
func (p *Profile) Merge(config release.RuntimeConfig, gates map[string]bool) (release.RuntimeConfig, map[string]bool) {
	merged, mergedGates := release.RuntimeConfig{}, map[string]bool{}
	maps.Copy(merged, p.RuntimeConfig)
	maps.Copy(merged, config)
	maps.Copy(mergedGates, p.FeatureGates)
	maps.Copy(mergedGates, gates)
	return merged, mergedGates
}

// closest returns the release that is closest to a version of Kubernetes, and whether it is
// of the same minor version.
func closest(major, minor int) (r *release.Release, same bool) {
	var oldest, newest *release.Release
	for _, name := range release.Names() {
		candidate, err := release.Open(name)
		if err != nil || candidate.Name() != candidate.Version() {
			continue
		}
		if oldest == nil {
			oldest = candidate
		}
		newest = candidate
		if major == 1 && candidate.Minor() == minor {
			return candidate, true
		}
	}
	if major < 1 || major == 1 && minor < oldest.Minor() {
		return oldest, false
	}
	return newest, false
}

// runtimeConfig returns what turns the API versions of a release on and off so that it serves
// those that a cluster serves. unknown are versions of built-in groups that it cannot serve.
func runtimeConfig(r *release.Release, served map[resource.GroupVersion]bool) (config release.RuntimeConfig, unknown []string) {
	config = release.RuntimeConfig{}
	byDefault := r.GroupVersions()
	for _, gv := range r.SchemeGroupVersions() {
		if on := slices.Contains(byDefault, gv); on == served[gv] {
			continue
		}
		change := release.RuntimeConfig{gv.String(): served[gv]}
		if _, err := r.Select(change); err != nil {
			unknown = append(unknown, gv.String())
			continue
		}
		maps.Copy(config, change)
	}
	return config, unknown
}

// featureGates returns the gates of a release that differ in a cluster and can be set.
func featureGates(r *release.Release, on map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, g := range r.Gates() {
		if value, known := on[g.Name]; known && value != g.Default && !g.Locked && g.Name != "AllAlpha" && g.Name != "AllBeta" {
			out[g.Name] = value
		}
	}
	if _, err := r.WithGates(out); err != nil {
		return nil // a release of another minor version has other dependencies
	}
	return out
}

// missing is a warning that a part of a cluster is not in its profile.
func missing(what string, err error) string { return fmt.Sprintf("%s: %v", what, err) }
