package authn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplitServiceAccount(t *testing.T) {
	for _, tt := range []struct{ user, namespace, name string }{
		{"system:serviceaccount:a:b", "a", "b"},
		{"system:serviceaccount:a:b.c", "a", "b.c"},
		{"system:serviceaccount:a", "", ""},
		{"system:serviceaccount:a:b:c", "", ""},
		{"system:serviceaccount::b", "", ""},
		{"system:serviceaccount:a.b:c", "", ""},
		{"a:b", "", ""},
	} {
		t.Run(tt.user, func(t *testing.T) {
			namespace, name, ok := SplitServiceAccount(tt.user)
			assert.Equal(t, tt.name != "", ok)
			assert.Equal(t, []string{tt.namespace, tt.name}, []string{namespace, name})
			if ok {
				assert.Equal(t, tt.user, ServiceAccountName(namespace, name))
			}
		})
	}
}

func TestCutServiceAccount(t *testing.T) {
	name, ok := CutServiceAccount(ServiceAccountName("ns", "a"), "ns")
	assert.True(t, ok)
	assert.Equal(t, "a", name)
	for _, user := range []string{"alice", "system:serviceaccount:", "system:serviceaccount:ns", "system:serviceaccount:ns2:a", "system:serviceaccount:n:a"} {
		_, ok := CutServiceAccount(user, "ns")
		assert.False(t, ok, user)
	}
}

func TestNodeName(t *testing.T) {
	node, ok := NodeName("system:node:n1")
	require.True(t, ok)
	assert.Equal(t, "n1", node)
	_, ok = NodeName("system:node:N_1")
	assert.False(t, ok)
	_, ok = NodeName("n1")
	assert.False(t, ok)
}

func TestWithGroup(t *testing.T) {
	u := User{Groups: []string{"a"}}
	assert.Equal(t, []string{"a", "b"}, u.WithGroup("b").Groups)
	assert.Equal(t, []string{"a"}, u.WithGroup("a").Groups)
}
