//go:build go1.24

package release

import "testing"

// BenchmarkTypes measures what the first server of a process needs of its
// release.
func BenchmarkTypes(b *testing.B) {
	for b.Loop() {
		if len(newRelease(Newest).Types()) == 0 {
			b.Fatal("no types")
		}
	}
}
