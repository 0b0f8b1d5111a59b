package kubeconfig

import (
	"encoding/json"
	"fmt"
	"slices"
)

// versioned has the lists of a kubeconfig file in the types of client-go's package clientcmd/api/v1,
// with all of their fields and in their order: an error prints a list as Go does.
type versioned struct {
	Clusters   []namedCluster   `json:"clusters"`
	Users      []namedUser      `json:"users"`
	Contexts   []namedContext   `json:"contexts"`
	Extensions []namedExtension `json:"extensions"`
}

// A namedCluster is a cluster with its name.
type namedCluster struct {
	Name    string `json:"name"`
	Cluster struct {
		Server             string           `json:"server"`
		TLSServerName      string           `json:"tls-server-name"`
		Insecure           bool             `json:"insecure-skip-tls-verify"`
		CA                 string           `json:"certificate-authority"`
		CAData             []byte           `json:"certificate-authority-data"`
		Proxy              string           `json:"proxy-url"`
		DisableCompression bool             `json:"disable-compression"`
		Extensions         []namedExtension `json:"extensions"`
	} `json:"cluster"`
}

// A namedUser is a user with its name.
type namedUser struct {
	Name string `json:"name"`
	User struct {
		Certificate     string              `json:"client-certificate"`
		CertificateData []byte              `json:"client-certificate-data"`
		Key             string              `json:"client-key"`
		KeyData         []byte              `json:"client-key-data"`
		Token           string              `json:"token"`
		TokenFile       string              `json:"tokenFile"`
		As              string              `json:"as"`
		AsUID           string              `json:"as-uid"`
		AsGroups        []string            `json:"as-groups"`
		AsExtra         map[string][]string `json:"as-user-extra"`
		Username        string              `json:"username"`
		Password        string              `json:"password"`
		AuthProvider    *struct{}           `json:"auth-provider"`
		Exec            *struct{}           `json:"exec"`
		Extensions      []namedExtension    `json:"extensions"`
	} `json:"user"`
}

// A namedContext is a context with its name.
type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster    string           `json:"cluster"`
		User       string           `json:"user"`
		Namespace  string           `json:"namespace"`
		Extensions []namedExtension `json:"extensions"`
	} `json:"context"`
}

// A namedExtension is a value of any type.
type namedExtension struct {
	Name      string    `json:"name"`
	Extension extension `json:"extension"`
}

// An extension is a value as its JSON. Object is always nil.
type extension struct {
	Raw    []byte
	Object any
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *extension) UnmarshalJSON(text []byte) error {
	e.Raw = slices.Clone(text)
	return nil
}

// checkNames returns the error for a name that a list of a file has twice. It ignores the lists of
// extensions in clusters, users and contexts.
func checkNames(body []byte) error {
	var v versioned
	if err := json.Unmarshal(body, &v); err != nil {
		return nil // a field that has no effect here is of another type
	}
	for _, list := range []struct {
		from, to string
		names    []string
		items    any
	}{
		{"NamedCluster", "*api.Cluster", namesOf(v.Clusters), v.Clusters},
		{"NamedAuthInfo", "*api.AuthInfo", namesOf(v.Users), v.Users},
		{"NamedContext", "*api.Context", namesOf(v.Contexts), v.Contexts},
		{"NamedExtension", "runtime.Object", namesOf(v.Extensions), v.Extensions},
	} {
		for i, name := range list.names {
			if slices.Contains(list.names[:i], name) {
				return fmt.Errorf("error converting *[]%s into *map[string]%s: duplicate name \"%s\" in list: %v", list.from, list.to, name, list.items)
			}
		}
	}
	return nil
}

// namesOf returns the names of the items of a list.
func namesOf[T interface{ name() string }](items []T) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.name()
	}
	return out
}

func (c namedCluster) name() string   { return c.Name }
func (u namedUser) name() string      { return u.Name }
func (c namedContext) name() string   { return c.Name }
func (e namedExtension) name() string { return e.Name }
