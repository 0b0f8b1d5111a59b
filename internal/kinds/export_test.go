package kinds

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
)

// IsRenamed reports whether conversion of the type changes nothing but apiVersion.
func IsRenamed(typ *resource.Type) bool {
	c, ok := conversions[kind.VersionedResource{GroupVersion: typ.GroupVersion, Name: typ.Name}]
	return ok && c.ToStored == nil
}

// StrategyNames returns the resources that have strategies.
func StrategyNames() (names []string) {
	for name := range strategies {
		names = append(names, name)
	}
	return names
}
