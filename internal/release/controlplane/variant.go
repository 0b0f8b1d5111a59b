package controlplane

import "github.com/kubefake/kubefake/internal/release/modules"

// A Variant is a set of flags of a server that is recorded.
type Variant struct {
	Name  string // empty for the default flags
	Flags []string
}

// firstGated is the minor number of the first release that is recorded with all feature gates.
const firstGated = 36

// Variants returns the servers that are recorded of a version.
func Variants(version string) []Variant {
	variants := []Variant{
		{"", nil},
		{"all", []string{"--runtime-config=api/all=true"}},
	}
	if modules.Minor(version) >= firstGated {
		variants = append(variants, Variant{"gates", []string{"--runtime-config=api/all=true", "--feature-gates=AllAlpha=true,AllBeta=true"}})
	}
	return variants
}
