package release

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/release/surface"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/suggest"
)

// A RuntimeConfig turns API versions and resources on and off, as --runtime-config of
// kube-apiserver does. Its keys are api/all, api/ga, api/beta, api/alpha,
// GROUP/VERSION, GROUP/VERSION/RESOURCE and v1 for the core group. More specific keys
// come after less specific ones.
type RuntimeConfig map[string]bool

// stages are the keys that stand for several versions, in the order in which they apply.
var stages = []struct {
	key, pattern string // the pattern is a regular expression for the versions
}{
	{"api/all", ``},
	{"api/ga", `^v\d+$`},
	{"api/beta", `^v\d+beta\d+$`},
	{"api/alpha", `^v\d+alpha\d+$`},
}

// isStage reports whether a key stands for several versions.
func isStage(key string) bool {
	for _, s := range stages {
		if s.key == key {
			return true
		}
	}
	return key == "api/legacy" // without effect
}

// A selection is a key of a RuntimeConfig for one version, or one resource of it.
type selection struct {
	key      string
	gv       resource.GroupVersion
	resource string // "" for the version
}

// parse returns the keys for single versions and resources, sorted.
func (c RuntimeConfig) parse() ([]selection, error) {
	return parseKeys(slices.Sorted(maps.Keys(c)))
}

// parseKeys returns what keys of a RuntimeConfig stand for, without those for several versions.
func parseKeys(keys []string) ([]selection, error) {
	var out []selection
	for _, key := range keys {
		if isStage(key) {
			continue
		}
		parts := strings.Split(key, "/")
		switch {
		case key == "v1" || strings.HasPrefix(key, "v1/"):
			parts = append([]string{""}, parts...)
		case key == "api/v1" || strings.HasPrefix(key, "api/v1/"): // with a resource, too, the whole version
			parts = []string{"", "v1"}
		}
		if len(parts) != 2 && len(parts) != 3 {
			return nil, fmt.Errorf("runtime-config invalid key %s", key)
		}
		s := selection{key: key, gv: resource.GroupVersion{Group: parts[0], Version: parts[1]}}
		if len(parts) == 3 {
			s.resource = parts[2]
		}
		out = append(out, s)
	}
	return out, nil
}

// required are the API versions that the server itself needs.
//
// Differs from kube-apiserver: API versions that cannot be turned off: v1 and
// rbac.authorization.k8s.io/v1 are always served. Request: GET /api/v1 with
// --runtime-config=v1=false.
var required = []resource.GroupVersion{{Version: "v1"}, {Group: "rbac.authorization.k8s.io", Version: "v1"}}

var errNothingOn = errors.New("invalid runtime-config with only api/all=false")

// Check returns what is wrong with a RuntimeConfig for the release, in the words of
// kube-apiserver.
func (r *Release) Check(c RuntimeConfig) error {
	if on, ok := c["api/all"]; ok && !on && len(c) == 1 {
		return errNothingOn
	}
	selections, err := c.parse()
	if err != nil {
		return err
	}
	if err := r.checkGroups(selections); err != nil {
		return err
	}
	known := r.SchemeGroupVersions()
	for _, s := range selections {
		if !slices.Contains(known, s.gv) {
			return fmt.Errorf("group version %s that has not been registered%s", s.gv, similarVersions(s.gv.String(), known))
		}
		if s.resource != strings.ToLower(s.resource) {
			return fmt.Errorf("invalid key %v: group/version/resource and resource is always lowercase plural, not %q", s.key, s.resource)
		}
	}
	return nil
}

// CheckGroups returns what is wrong with a configuration whose values are not parsed yet: with its
// keys, but for the versions and resources of the groups of the release.
func (r *Release) CheckGroups(texts map[string]string) error {
	if texts["api/all"] == "false" && len(texts) == 1 {
		return errNothingOn
	}
	selections, err := parseKeys(slices.Sorted(maps.Keys(texts)))
	if err != nil {
		return err
	}
	return r.checkGroups(selections)
}

// checkGroups returns the error for groups that the release does not have.
func (r *Release) checkGroups(selections []selection) error {
	known := r.SchemeGroupVersions()
	var unknown []string
	for _, s := range selections {
		inGroup := func(gv resource.GroupVersion) bool { return gv.Group == s.gv.Group }
		if !slices.ContainsFunc(known, inGroup) && !slices.Contains(unknown, s.gv.String()) {
			unknown = append(unknown, s.gv.String())
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("unknown api groups %s%s", strings.Join(unknown, ","), similarVersions(unknown[0], known))
	}
	return nil
}

// selected has the releases that Select has made, so that servers of the same
// configuration share what is made of them.
var selected struct {
	sync.Mutex
	releases map[string]*Release
}

// Select returns the release with other API versions and resources. It fails as Check
// does, and if the core group is turned off. The caller may compare the
// results of equal configurations with ==.
func (r *Release) Select(c RuntimeConfig) (*Release, error) {
	if len(c) == 0 {
		return r, nil
	}
	if err := r.Check(c); err != nil {
		return nil, err
	}
	key := fmt.Sprint(r.name, map[string]bool(c), r.changed) // maps are printed in the order of their keys
	selected.Lock()
	defer selected.Unlock()
	if out := selected.releases[key]; out != nil {
		return out, nil
	}
	out, err := r.withConfig(c)
	if err != nil {
		return nil, err
	}
	if selected.releases == nil {
		selected.releases = map[string]*Release{}
	}
	selected.releases[key] = out
	return out, nil
}

// withConfig is Select without the cache and the check.
func (r *Release) withConfig(c RuntimeConfig) (*Release, error) {
	version, _ := cutAll(r.name)
	all, err := Open(version + "-all")
	if err != nil {
		return nil, err // unreachable: every release has one
	}
	served, err := r.switched(c, all)
	if err != nil {
		return nil, err
	}
	s := surface.Surface{}
	versions := map[resource.GroupVersion]bool{}
	for _, by := range []*Release{all, r} {
		for _, t := range by.recorded().Types {
			if served.has(t, by == all, by == r) && !slices.Contains(s.Types, t) {
				s.Types = append(s.Types, t)
				versions[t.GroupVersion] = true
			}
		}
		if all == r {
			break
		}
	}
	order := all.recorded().GroupVersions
	for _, gv := range order {
		if versions[gv] {
			s.GroupVersions = append(s.GroupVersions, gv)
		}
	}
	position := func(t *resource.Type) int { return slices.Index(order, t.GroupVersion) }
	slices.SortStableFunc(s.Types, func(a, b *resource.Type) int {
		return cmp.Or(position(a)-position(b), strings.Compare(a.Name, b.Name))
	})
	out := new(Release)
	*out = *r
	out.recorded = func() surface.Surface { return s }
	out.documents = sync.OnceValue(func() map[string]document { return all.documentsOf(s.GroupVersions) })
	return out.gated(), nil
}

// switches say what a RuntimeConfig turns on and off.
type switches struct {
	on        map[resource.GroupVersion]bool // versions that are served
	changed   map[resource.GroupVersion]bool // those that the config names: with all of their resources
	resources map[selection]bool
}

// switched returns what a config makes of the release. all is the release with all versions.
func (r *Release) switched(c RuntimeConfig, all *Release) (*switches, error) {
	out := &switches{map[resource.GroupVersion]bool{}, map[resource.GroupVersion]bool{}, map[selection]bool{}}
	for _, gv := range r.recorded().GroupVersions {
		out.on[gv] = true
	}
	for _, stage := range stages {
		value, ok := c[stage.key]
		if !ok {
			continue
		}
		matches := regexp.MustCompile(stage.pattern)
		for _, gv := range all.recorded().GroupVersions {
			if matches.MatchString(gv.Version) {
				out.set(gv, value)
			}
		}
	}
	selections, _ := c.parse() // Check has parsed it
	for _, s := range selections {
		value := c[s.key]
		if value && !slices.Contains(all.recorded().GroupVersions, s.gv) {
			continue // kube-apiserver knows its kinds, and serves none
		}
		if !value && slices.Contains(required, s.gv) {
			return nil, fmt.Errorf("%s cannot be turned off here", s.key)
		}
		if s.resource == "" {
			out.set(s.gv, value)
		} else {
			out.resources[selection{gv: s.gv, resource: s.resource}] = value
		}
	}
	for _, gv := range required {
		if !out.on[gv] {
			return nil, fmt.Errorf("the API version %s cannot be turned off here", gv)
		}
	}
	return out, nil
}

func (s *switches) set(gv resource.GroupVersion, value bool) { s.on[gv], s.changed[gv] = value, true }

// has reports whether a type is served that is recorded of the release with all versions, or of the
// release itself, or of both if they are the same.
func (s *switches) has(t *resource.Type, ofAll, ofRelease bool) bool {
	if value, ok := s.resources[selection{gv: t.GroupVersion, resource: t.Name}]; ok {
		return value && ofAll
	}
	if s.changed[t.GroupVersion] {
		return s.on[t.GroupVersion] && ofAll
	}
	return s.on[t.GroupVersion] && ofRelease
}

// documentsOf returns the OpenAPI documents without those of versions and groups that are
// not served.
func (r *Release) documentsOf(served []resource.GroupVersion) map[string]document {
	if len(served) == len(r.recorded().GroupVersions) {
		return r.documents()
	}
	out := maps.Clone(r.documents())
	groups := map[string]bool{}
	for _, gv := range served {
		groups[gv.Group] = true
	}
	for _, gv := range r.recorded().GroupVersions {
		if !slices.Contains(served, gv) {
			delete(out, "apis/"+gv.Group+"/"+gv.Version)
		}
		if !groups[gv.Group] {
			delete(out, "apis/"+gv.Group)
		}
	}
	return out
}

// similarVersions ends the error for an API version that does not exist.
func similarVersions(name string, known []resource.GroupVersion) string {
	names := make([]string, len(known))
	for i, gv := range known {
		names[i] = gv.String()
	}
	return suggest.DidYouMean(name, names)
}
