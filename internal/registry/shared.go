//go:build !race

package registry

const sharesFirst = false

// mustNotChange and mustNotWrite check nothing without the race detector.
func mustNotChange(map[string]any) func() { return func() {} }
func mustNotWrite(map[string]any) func()  { return func() {} }
