package registry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestManagerOf(t *testing.T) {
	for agent, want := range map[string]string{
		"kubectl/v1.36.3 (linux/amd64)": "kubectl",
		"no slash":                      "no slash",
		"/lead":                         "",
		"tab\tbed/1":                    "tabbed",
	} {
		assert.Equal(t, want, managerOf(agent))
	}
	assert.Len(t, managerOf(strings.Repeat("é", 100)), maxManager)
}
