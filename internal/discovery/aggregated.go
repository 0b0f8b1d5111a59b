package discovery

import (
	"encoding/json"

	"github.com/kubefake/kubefake/internal/resource"
)

type groupDiscoveryList struct {
	Kind       string           `json:"kind,omitempty"`       // empty for the ETag
	APIVersion string           `json:"apiVersion,omitempty"` // empty for the ETag
	Metadata   struct{}         `json:"metadata"`
	Items      []groupDiscovery `json:"items"`
}

type groupDiscovery struct {
	Metadata metadata           `json:"metadata"`
	Versions []versionDiscovery `json:"versions,omitempty"`
}

type metadata struct {
	Name              string          `json:"name,omitempty"`
	CreationTimestamp json.RawMessage `json:"creationTimestamp,omitempty"` // null if it is printed
}

type versionDiscovery struct {
	Version   string              `json:"version"`
	Resources []resourceDiscovery `json:"resources,omitempty"`
	Freshness string              `json:"freshness"`
}

type resourceDiscovery struct {
	Resource         string                 `json:"resource"`
	ResponseKind     groupVersionKind       `json:"responseKind"`
	Scope            string                 `json:"scope"`
	SingularResource string                 `json:"singularResource"`
	Verbs            []string               `json:"verbs"`
	ShortNames       []string               `json:"shortNames,omitempty"`
	Categories       []string               `json:"categories,omitempty"`
	Subresources     []subresourceDiscovery `json:"subresources,omitempty"`
}

type subresourceDiscovery struct {
	Subresource  string           `json:"subresource"`
	ResponseKind groupVersionKind `json:"responseKind"`
	Verbs        []string         `json:"verbs"`
}

type groupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// aggregate returns the aggregated document of groups.
func aggregate(groups []group, nullTimes bool) groupDiscoveryList {
	doc := groupDiscoveryList{Items: []groupDiscovery{}}
	for _, g := range groups {
		item := groupDiscovery{Metadata: metadata{Name: g.name}}
		if nullTimes {
			item.Metadata.CreationTimestamp = json.RawMessage("null")
		}
		for _, v := range g.versions {
			item.Versions = append(item.Versions, describeVersion(v))
		}
		doc.Items = append(doc.Items, item)
	}
	return doc
}

func describeVersion(v version) versionDiscovery {
	if v.remote != nil {
		return v.remote.describe(v.Version)
	}
	doc := versionDiscovery{Version: v.Version, Freshness: "Current"}
	for _, t := range v.types {
		r := resourceDiscovery{
			Resource:         t.Name,
			ResponseKind:     v.responseKind(resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind}),
			Scope:            "Cluster",
			SingularResource: t.Singular,
			Verbs:            t.Verbs,
			ShortNames:       t.ShortNames,
			Categories:       t.Categories,
		}
		if t.Namespaced {
			r.Scope = "Namespaced"
		}
		for _, sub := range t.Subresources {
			r.Subresources = append(r.Subresources, subresourceDiscovery{
				Subresource:  sub.Name,
				ResponseKind: v.responseKind(sub.Kind),
				Verbs:        sub.Verbs,
			})
		}
		doc.Resources = append(doc.Resources, r)
	}
	return doc
}

// responseKind returns the kind in a document. Built-in resources leave out the
// group version of the document, custom resources do not.
func (v version) responseKind(k resource.Kind) groupVersionKind {
	if k.GroupVersion == v.GroupVersion && !v.custom {
		return groupVersionKind{Kind: k.Kind}
	}
	return groupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}
