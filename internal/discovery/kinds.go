package discovery

import (
	"encoding/json"
	"strings"
)

// A Kind is how a server serves the objects of a kind.
type Kind struct {
	Resource   string // in URLs
	Namespaced bool
}

// ParseKinds returns the kinds in the document of a group version, by their names. It is nil for
// what is no such document.
func ParseKinds(document []byte) map[string]Kind {
	var list struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
		}
	}
	if json.Unmarshal(document, &list) != nil {
		return nil
	}
	out := make(map[string]Kind, len(list.Resources))
	for _, r := range list.Resources {
		if isSubresource := strings.Contains(r.Name, "/"); !isSubresource {
			out[r.Kind] = Kind{r.Name, r.Namespaced}
		}
	}
	return out
}
