//go:build race

package object

import "fmt"

// Checked reports whether the program is built with the race detector. Then packages also do what
// they leave out because they know the result, and panic if it is another one.
const Checked = true

// A seal finds writes to what an Object has. Only builds with the race detector have it.
type seal struct{ copied map[string]any }

// sealed seals the fields of an Object. They are read in a goroutine that no other waits for, so
// that any later write is a data race, even one that changes nothing.
func sealed(m map[string]any) seal {
	copied := Copy(m)
	go Copy(m)
	return seal{copied}
}

// check panics if the fields of an Object have changed.
func (s seal) check(v any) {
	if !Equal(s.copied, v) {
		panic(fmt.Sprintf("object: a write changed a shared object in place, from %v to %v", s.copied, v))
	}
}
