// Package kinds assembles the types of the built-in resources. The package of
// each API group below it returns the strategies and the conversions of its
// resources.
//
// A group's package has a file <kind>_strategy.go for each kind, and beside it
// files for its defaults, validation, warnings, columns and conversion. Functions
// named default… set defaults, as k8s.io/kubernetes/pkg/apis does. Functions named
// prepare… reset and set fields before an object is stored, as pkg/registry does.
// Functions named validate… and check… return or add errors. They change only the
// new object, which may share values with the old object afterwards. Functions named
// …Cells return the cells of an object in a Table. All of them are safe for
// concurrent use with different objects.
package kinds

import (
	"maps"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Types returns copies of a release's types with their codecs, strategies,
// columns, conversions and storage prefixes set.
func Types(r *release.Release) []*resource.Type { return build(r, r.Types()) }

// Newest returns copies of types that need not be served, as Types does for those of
// the newest release.
func Newest(types []*resource.Type) []*resource.Type { return build(nil, types) }

// build is Types for other types than the release's. A nil release is the newest one.
func build(r *release.Release, released []*resource.Type) []*resource.Type {
	isServed := make(map[kind.VersionedResource]bool, len(released))
	for _, p := range released {
		isServed[versioned(p, p.GroupVersion)] = true
	}
	out := make([]*resource.Type, len(released))
	unserved := map[kind.VersionedResource]*resource.Type{} // storage versions that are not served
	for i, p := range released {
		t := *p
		if t.Group == "events.k8s.io" {
			t.Stored = resource.GroupVersion{Version: "v1"} // the only resource that is stored in another group
		}
		t.PublishedStored, t.Stored = t.Stored, storedVersion(&t, isServed)
		t.Prefix = "/" + qualified(t.Stored.Group, t.Name) + "/"
		out[i] = complete(&t, r)
		if stored := versioned(p, t.Stored); !isServed[stored] && unserved[stored] == nil {
			hub := t
			hub.GroupVersion = t.Stored
			unserved[stored] = complete(&hub, r)
		}
	}
	link(slices.AppendSeq(slices.Clone(out), maps.Values(unserved)), minorOf(r))
	return out
}

// complete sets what the package of its group defines of a type in a release; nil is the
// newest one.
func complete(t *resource.Type, r *release.Release) *resource.Type {
	t.Codec = resource.BuiltinCodecIn(minorOf(r), resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind})
	s := strategyOf(t)
	t.Layout = s.Layout(r, t)
	if t.Allows("list") && t.Allows("create") {
		t.Strategy = s.Build(r, t)
	}
	return t
}

// versioned returns the resource of a type in a version.
func versioned(t *resource.Type, gv resource.GroupVersion) kind.VersionedResource {
	return kind.VersionedResource{GroupVersion: gv, Name: t.Name}
}

// storedVersion returns the version in which this server stores a resource: the one of the
// release, but if the newest release stores another, which conversions convert to, that one. A
// version that is not served is stored only if conversions change more than apiVersion:
// strategies are written for its form.
func storedVersion(t *resource.Type, isServed map[kind.VersionedResource]bool) resource.GroupVersion {
	if _, converts := conversions[versioned(t, t.Stored)]; converts {
		if hub, ok := newestStored()[status.GroupResource{Group: t.Group, Resource: t.Name}]; ok && (isServed[versioned(t, hub)] || changesForm(t)) {
			return hub
		}
	}
	if isServed[versioned(t, t.Stored)] || changesForm(t) {
		return t.Stored
	}
	return t.GroupVersion
}

// changesForm reports whether a conversion of the resource changes more than apiVersion.
func changesForm(t *resource.Type) bool {
	for v, c := range conversions {
		if v.Group == t.Group && v.Name == t.Name && c.ToStored != nil {
			return true
		}
	}
	return false
}

// newestStored returns the versions in which the newest release stores the resources that
// have conversions. It makes no types of them, because every process needs it.
var newestStored = sync.OnceValue(func() map[status.GroupResource]resource.GroupVersion {
	converted := map[status.GroupResource]bool{}
	for v := range conversions {
		converted[status.GroupResource{Group: v.Group, Resource: v.Name}] = true
	}
	out := make(map[status.GroupResource]resource.GroupVersion, len(converted))
	for r, stored := range release.NewestStored() {
		if converted[r] {
			out[r] = stored
		}
	}
	return out
})

// minorOf returns the minor number of a release, 0 for nil.
func minorOf(r *release.Release) int {
	if r == nil {
		return 0
	}
	return r.Minor()
}

// qualified returns a resource with its group: "deployments.apps", "pods".
func qualified(group, name string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// strategyOf returns the strategy of t. A resource without an entry in strategies
// has DNS subdomains as names, allows unconditional updates, and has the columns of
// table.Default.
func strategyOf(t *resource.Type) *kind.Strategy {
	name := qualified(t.Stored.Group, t.Name)
	s, ok := strategies[name+"/"+t.Stored.Version]
	if !ok {
		s, ok = strategies[name]
	}
	if !ok {
		s = kind.Strategy{Strategy: resource.Strategy{AllowUnconditionalUpdate: true}}
	}
	return &s
}
