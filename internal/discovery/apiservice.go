package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
)

// An APIService is what an APIService says about its group version.
type APIService struct {
	resource.GroupVersion
	GroupPriority   int64 // spec.groupPriorityMinimum
	VersionPriority int64 // spec.versionPriority

	// Remote is set if another server serves the group version.
	Remote *Remote
}

// A Remote is the group version of another server. The zero value is that of a server whose
// documents are not known. It is immutable.
type Remote struct {
	resources []resourceDiscovery
	current   bool
}

// ParseAggregated returns the group versions in the aggregated document of another server.
func ParseAggregated(body []byte) (map[resource.GroupVersion]*Remote, error) {
	var doc groupDiscoveryList
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	out := map[resource.GroupVersion]*Remote{}
	for _, g := range doc.Items {
		for _, v := range g.Versions {
			out[resource.GroupVersion{Group: g.Metadata.Name, Version: v.Version}] = &Remote{v.Resources, true}
		}
	}
	return out, nil
}

// Current returns the group version of a server that answers but has no resources in it.
func Current() *Remote { return &Remote{current: true} }

// Accept is the Accept header of requests for aggregated documents.
var Accept = "application/json" + fmt.Sprintf(aggregatedType, "v2") + ",application/json" + fmt.Sprintf(aggregatedType, betaVersion)

// IsAggregated reports whether an answer of a media type is an aggregated document.
func IsAggregated(contentType string) bool {
	_, params, err := mime.ParseMediaType(contentType)
	return err == nil && params["g"] == "apidiscovery.k8s.io" && params["as"] == "APIGroupDiscoveryList" && (params["v"] == "v2" || params["v"] == betaVersion)
}

// A listedResource is a resource or a subresource in an APIResourceList.
type listedResource struct {
	Name, SingularName, Kind, Group, Version string
	Namespaced                               bool
	Verbs, ShortNames, Categories            []string
}

func (r *listedResource) scope() string {
	if r.Namespaced {
		return "Namespaced"
	}
	return "Cluster"
}

// ParseResourceList returns the group version of an APIResourceList of another server. A
// subresource without a resource gets one.
func ParseResourceList(body []byte) (*Remote, error) {
	var list struct {
		Kind      string
		Resources []listedResource
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list.Kind != "APIResourceList" {
		return nil, fmt.Errorf("the document is of kind %q, not APIResourceList", list.Kind)
	}
	out, place := Current(), map[string]int{}
	add := func(r resourceDiscovery) {
		place[r.Resource] = len(out.resources)
		out.resources = append(out.resources, r)
	}
	for _, r := range list.Resources {
		if !strings.Contains(r.Name, "/") {
			add(resourceDiscovery{
				Resource: r.Name, Scope: r.scope(), ResponseKind: groupVersionKind{r.Group, r.Version, r.Kind},
				Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories, SingularResource: r.SingularName,
			})
		}
	}
	for _, r := range list.Resources {
		name, subresource, ok := strings.Cut(r.Name, "/")
		if !ok {
			continue
		}
		if _, ok := place[name]; !ok {
			add(resourceDiscovery{Resource: name, Scope: r.scope()})
		}
		parent := &out.resources[place[name]]
		if parent.Scope != r.scope() {
			return nil, fmt.Errorf("the scopes of %s and of its subresource %s differ", name, subresource)
		}
		sub := subresourceDiscovery{Subresource: subresource, Verbs: r.Verbs}
		if r.Kind != "" {
			sub.ResponseKind = groupVersionKind{r.Group, r.Version, r.Kind}
		}
		parent.Subresources = append(parent.Subresources, sub)
	}
	return out, nil
}

// describe returns the document of a group version.
func (r *Remote) describe(version string) versionDiscovery {
	doc := versionDiscovery{Version: version, Resources: r.resources, Freshness: "Stale"}
	if r.current {
		doc.Freshness = "Current"
	}
	return doc
}

// The priorities of custom resources, and of the group of APIServices, which comes first.
const (
	customGroupPriority   = 1000
	customVersionPriority = 100
	registrationPriority  = 20001
)

// addRemote adds the group versions of other servers, which replace those of this one.
func (s *Surface) addRemote(groups []group) []group {
	for _, a := range s.APIServices {
		if a.Remote == nil {
			continue
		}
		v := version{GroupVersion: a.GroupVersion, remote: a.Remote}
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == a.Group })
		if i < 0 {
			groups = append(groups, group{a.Group, []version{v}})
			continue
		}
		if j := slices.IndexFunc(groups[i].versions, func(other version) bool { return other.Version == a.Version }); j < 0 {
			groups[i].versions = append(groups[i].versions, v)
		} else {
			groups[i].versions[j] = v
		}
	}
	return groups
}

// A priority is the place of a group version. Higher ones come first.
type priority struct{ group, version int64 }

// priorities returns that of each group version.
func (s *Surface) priorities() func(version) priority {
	known := map[resource.GroupVersion]priority{}
	for _, a := range s.APIServices {
		known[a.GroupVersion] = priority{a.GroupPriority, a.VersionPriority}
	}
	return func(v version) priority {
		p, ok := known[v.GroupVersion]
		switch {
		case v.Group == "apiregistration.k8s.io":
			p.group = registrationPriority
		case !ok:
			p = priority{customGroupPriority, customVersionPriority}
		}
		return p
	}
}

// sortGroups sorts groups by their highest priority, and their versions by theirs. Groups of the same
// priority are sorted by name. The document of all groups that is not aggregated sorts them
// by the name of the APIService with that priority: byService is the groups in its order.
func (s *Surface) sortGroups(groups []group) (byService []group) {
	priorityOf := s.priorities()
	type place struct {
		priority int64
		service  string
	}
	places := map[string]place{}
	for _, g := range groups {
		slices.SortStableFunc(g.versions, func(a, b version) int {
			return cmp.Or(cmp.Compare(priorityOf(b).version, priorityOf(a).version), CompareVersions(a.Version, b.Version))
		})
		for i, v := range g.versions {
			p := place{priorityOf(v).group, v.Version + "." + v.Group}
			if best := places[g.name]; i == 0 || p.priority > best.priority || p.priority == best.priority && p.service < best.service {
				places[g.name] = p
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(places[b.name].priority, places[a.name].priority), strings.Compare(a.name, b.name))
	})
	byService = slices.Clone(groups)
	slices.SortStableFunc(byService, func(a, b group) int {
		return cmp.Or(cmp.Compare(places[b.name].priority, places[a.name].priority), strings.Compare(places[a.name].service, places[b.name].service))
	})
	return byService
}
