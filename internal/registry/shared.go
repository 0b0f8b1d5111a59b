//go:build !race

package registry

const sharesFirst = false

// mustNotChange checks nothing without the race detector.
func mustNotChange(map[string]any) func() { return func() {} }
