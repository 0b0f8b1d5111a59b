//go:build go1.25

package explore_test

import "testing"

func needsBubble(*testing.T) {}
