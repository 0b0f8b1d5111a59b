package release

import "testing"

// BenchmarkCold measures what the first server of a process pays: opening the
// archive and parsing the types of one profile.
func BenchmarkCold(b *testing.B) {
	for b.Loop() {
		a := open()
		if len(a.surface(Default).Types) == 0 {
			b.Fatal("no types")
		}
	}
}
