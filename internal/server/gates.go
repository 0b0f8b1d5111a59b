package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// cborGate is the feature gate of application/cbor.
const cborGate = "CBORServingAndStorage"

// gates are the feature gates that a Config may set, with their defaults.
var gates = map[string]bool{cborGate: false}

// CheckFeatureGates fails for an unknown gate.
func CheckFeatureGates(set map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if _, ok := gates[name]; !ok {
			return fmt.Errorf("unknown feature gate %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(gates)), ", "))
		}
	}
	return nil
}

// enabled reports whether a gate is on.
func (c *Config) enabled(gate string) bool {
	if on, ok := c.FeatureGates[gate]; ok {
		return on
	}
	return gates[gate]
}
