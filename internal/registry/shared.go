//go:build !race

package registry

import "github.com/kubefake/kubefake/internal/resource"

const sharesFirst = false

// mustNotChange, mustNotWrite and mustBeDecoded check nothing without the race detector.
func mustNotChange(map[string]any) func()   { return func() {} }
func mustNotWrite(...map[string]any) func() { return func() {} }
func mustBeDecoded(*state, *resource.Type)  {}
