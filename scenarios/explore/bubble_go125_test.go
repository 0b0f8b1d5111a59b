//go:build go1.25

package explore_test

import (
	"testing"
	"testing/synctest"
)

func needsBubble(*testing.T) {}

func bubble(t *testing.T, f func()) { synctest.Test(t, func(*testing.T) { f() }) }
