// Package behavior has what kube-apiserver does otherwise from one release on: in table.go,
// a constant for each change, by the release that brought it.
//
// A rule asks for the behavior and never for the number of the release:
//
//	if r.Has(behavior.NegotiatesBeforeOptions) { ... }
//
// What depends on a feature gate asks for the gate instead, and what a release serves, such as
// its resources and the fields of its types, is data of package release.
//
// When a release is no longer served, the behaviors of the release after it hold in all
// others: their constants are deleted, and the compiler lists the rules that lose a branch.
package behavior

// A Behavior is something that kube-apiserver does from one release on. The zero Behavior
// is what all releases do.
type Behavior int

// byRelease is the number of behaviors that a release can have. A Behavior is the minor
// number of its release times byRelease, plus its place in the list of the release.
const byRelease = 1 << 8

// Minor returns the minor number of the first release with the behavior.
func (b Behavior) Minor() int { return int(b) / byRelease }

// In reports whether a release, by its minor number, has the behavior. 0 is the newest one,
// which has all.
func (b Behavior) In(minor int) bool { return minor == 0 || minor >= b.Minor() }
