package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"

	"github.com/kubefake/kubefake/internal/resource"
)

type apiVersions struct {
	Kind                       string          `json:"kind"`
	Versions                   []string        `json:"versions"`
	ServerAddressByClientCIDRs []serverAddress `json:"serverAddressByClientCIDRs"`
}

type serverAddress struct {
	ClientCIDR    string `json:"clientCIDR"`
	ServerAddress string `json:"serverAddress"`
}

type apiGroupList struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Groups     []apiGroup `json:"groups"`
}

type apiGroup struct {
	Kind             string            `json:"kind,omitempty"`       // "" in a list
	APIVersion       string            `json:"apiVersion,omitempty"` // "" in a list
	Name             string            `json:"name"`
	Versions         []apiGroupVersion `json:"versions"`
	PreferredVersion apiGroupVersion   `json:"preferredVersion"`
}

type apiGroupVersion struct {
	GroupVersion string `json:"groupVersion"`
	Version      string `json:"version"`
}

type apiResourceList struct {
	Kind         string        `json:"kind"`
	APIVersion   string        `json:"apiVersion,omitempty"` // "" for the legacy group
	GroupVersion string        `json:"groupVersion"`
	Resources    []apiResource `json:"resources"`
}

type apiResource struct {
	Name               string   `json:"name"`
	SingularName       string   `json:"singularName"`
	Namespaced         bool     `json:"namespaced"`
	Group              string   `json:"group,omitempty"`   // if not the list's
	Version            string   `json:"version,omitempty"` // if not the list's
	Kind               string   `json:"kind"`
	Verbs              []string `json:"verbs"`
	ShortNames         []string `json:"shortNames,omitempty"`
	Categories         []string `json:"categories,omitempty"`
	StorageVersionHash string   `json:"storageVersionHash,omitempty"`
}

// legacyVersions returns the document of /api.
func legacyVersions(groups []group, address string) apiVersions {
	doc := apiVersions{
		Kind:                       "APIVersions",
		Versions:                   []string{},
		ServerAddressByClientCIDRs: []serverAddress{{ClientCIDR: "0.0.0.0/0", ServerAddress: address}},
	}
	for _, g := range groups {
		for _, v := range g.versions {
			doc.Versions = append(doc.Versions, v.Version)
		}
	}
	return doc
}

// groupList returns the document of /apis.
func groupList(groups []group) apiGroupList {
	doc := apiGroupList{Kind: "APIGroupList", APIVersion: "v1", Groups: []apiGroup{}}
	for _, g := range groups {
		item := describeGroup(g)
		item.Kind, item.APIVersion = "", ""
		doc.Groups = append(doc.Groups, item)
	}
	return doc
}

// describeGroup returns the document of /apis/GROUP.
func describeGroup(g group) apiGroup {
	doc := apiGroup{Kind: "APIGroup", APIVersion: "v1", Name: g.name}
	for _, v := range g.versions {
		doc.Versions = append(doc.Versions, apiGroupVersion{GroupVersion: v.String(), Version: v.Version})
	}
	doc.PreferredVersion = doc.Versions[0]
	return doc
}

// resourceList returns the document of /api/VERSION and /apis/GROUP/VERSION.
func resourceList(v version) apiResourceList {
	doc := apiResourceList{Kind: "APIResourceList", APIVersion: "v1", GroupVersion: v.String(), Resources: []apiResource{}}
	if v.Group == "" {
		doc.APIVersion = ""
	}
	for _, t := range v.types {
		doc.Resources = append(doc.Resources, apiResource{
			Name:               t.Name,
			SingularName:       t.Singular,
			Namespaced:         t.Namespaced,
			Kind:               t.Kind,
			Verbs:              t.Verbs,
			ShortNames:         t.ShortNames,
			Categories:         t.Categories,
			StorageVersionHash: storageVersionHash(t),
		})
		for _, sub := range t.Subresources {
			r := apiResource{
				Name:       t.Name + "/" + sub.Name,
				Namespaced: t.Namespaced,
				Kind:       sub.Kind.Kind,
				Verbs:      sub.Verbs,
			}
			if sub.Kind.GroupVersion != t.GroupVersion {
				r.Group, r.Version = sub.Kind.Group, sub.Kind.Version
			}
			doc.Resources = append(doc.Resources, r)
		}
	}
	return doc
}

// storageVersionHash returns the storage version hash of a type: resources with
// the same hash share their storage. It is "" for a type whose objects are not
// stored, and for a custom resource whose storage version is not served.
func storageVersionHash(t *resource.Type) string {
	stored := cmp.Or(t.PublishedStored, t.Stored)
	if stored == (resource.GroupVersion{}) || t.UnservedStored {
		return ""
	}
	sum := sha256.Sum256([]byte(stored.Group + "/" + stored.Version + "/" + t.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
