package discovery

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
)

// A Surface is the set of resources that a server serves.
type Surface struct {
	// Builtin are the built-in group versions in the order of discovery: groups
	// by their priority, the preferred version of a group first.
	Builtin []resource.GroupVersion

	// Custom are the group versions of custom resources, in any order;
	// duplicates are ignored. Their groups are listed by name after the
	// built-in ones, their versions in the order of CompareVersions. In a
	// built-in group they precede the built-in versions.
	Custom []resource.GroupVersion

	// Registered are the group versions that definitions serve, also those whose names are not
	// accepted yet, in any order. Plain documents list them, aggregated ones only those of Custom.
	Registered []resource.GroupVersion

	// Types are the resources of those group versions. Those of one version are
	// in the order of discovery.
	Types []*resource.Type

	// APIServices are those in the store if one of them is remote; otherwise they may be
	// missing. With them groups and versions are sorted by their priorities. Group versions
	// without one have those of custom resources.
	APIServices []APIService

	// Paths are the other paths that / lists, in any order.
	Paths []string

	// Encodings are the media types of documents other than JSON. If a client
	// accepts several equally, JSON is preferred, then earlier ones.
	Encodings []Encoding

	// Beta also offers aggregated documents in apidiscovery.k8s.io/v2beta1.
	Beta bool

	// NullTimes prints "creationTimestamp": null in the metadata of aggregated documents.
	NullTimes bool
}

// An Encoding converts JSON to another media type.
type Encoding struct {
	MediaType string                            // "application/yaml"
	Convert   func(json []byte) ([]byte, error) // must not change its argument
}

// A group is an API group with its versions, the preferred one first.
type group struct {
	name     string
	versions []version
}

type version struct {
	resource.GroupVersion
	custom bool
	types  []*resource.Type
	remote *Remote // of another server; nil for one of this server

	registered bool // set if no definition that serves it has its names accepted
}

// groups returns the groups in the order of aggregated documents, and in that of other ones.
// The legacy group, if there is one, has the name "".
func (s *Surface) groups() (aggregated, plain []group) {
	groups := s.localGroups()
	plain = groups
	if s.APIServices != nil {
		groups = s.addRemote(groups)
		plain = s.sortGroups(groups)
	}
	return withoutRegistered(groups), plain
}

// withoutRegistered returns the groups without the versions that are only registered.
func withoutRegistered(groups []group) []group {
	var out []group
	for _, g := range groups {
		g.versions = slices.DeleteFunc(slices.Clone(g.versions), func(v version) bool { return v.registered })
		if len(g.versions) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// localGroups returns the groups of this server in the order of discovery.
func (s *Surface) localGroups() []group {
	custom := slices.SortedFunc(slices.Values(slices.Concat(s.Custom, s.Registered)), func(a, b resource.GroupVersion) int {
		if c := strings.Compare(a.Group, b.Group); c != 0 {
			return c
		}
		return CompareVersions(a.Version, b.Version)
	})
	custom = slices.Compact(custom)
	var groups []group
	byName := map[string]int{} // index in groups
	add := func(v version) {
		i, ok := byName[v.Group]
		if !ok {
			i = len(groups)
			byName[v.Group] = i
			groups = append(groups, group{name: v.Group})
		}
		groups[i].versions = append(groups[i].versions, v)
	}
	served := map[resource.GroupVersion]bool{}
	for _, gv := range s.Custom {
		served[gv] = true
	}
	addCustom := func(gv resource.GroupVersion, types []*resource.Type) {
		add(version{GroupVersion: gv, custom: true, types: types, registered: !served[gv]})
	}
	types := map[resource.GroupVersion][]*resource.Type{}
	for _, t := range s.Types {
		types[t.GroupVersion] = append(types[t.GroupVersion], t)
	}
	builtin := map[string]bool{}
	for _, gv := range s.Builtin {
		if !builtin[gv.Group] {
			builtin[gv.Group] = true
			for _, c := range custom {
				if c.Group == gv.Group {
					addCustom(c, types[c])
				}
			}
		}
		add(version{GroupVersion: gv, types: types[gv]})
	}
	for _, c := range custom {
		if !builtin[c.Group] {
			addCustom(c, types[c])
		}
	}
	return groups
}
