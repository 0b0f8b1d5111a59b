//go:build !race

package object

// Checked reports whether the program is built with the race detector. Then packages also do what
// they leave out because they know the result, and panic if it is another one.
const Checked = false

// A seal checks nothing without the race detector.
type seal struct{}

func sealed(map[string]any) (s seal) { return s }

func (seal) check(any) {}
