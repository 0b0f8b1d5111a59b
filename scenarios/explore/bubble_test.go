//go:build !go1.25

package explore_test

import "testing"

// needsBubble skips a test that would take minutes in real time.
func needsBubble(t *testing.T) { t.Skip("testing/synctest needs Go 1.25") }

func bubble(*testing.T, func()) {}
