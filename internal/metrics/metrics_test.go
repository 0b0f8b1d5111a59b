package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEncode(t *testing.T) {
	assert.Equal(t, `# HELP a Help.
# TYPE a gauge
a 1
a{x="\"\\\n"} 2
a{x="1",y="2"} 3
# HELP b Nothing.
# TYPE b counter
`, string(Encode(
		Family{"a", Gauge, "Help.", []Sample{{nil, 1}, {[]string{"x", "\"\\\n"}, 2}, {[]string{"x", "1", "y", "2"}, 3}}},
		Family{"b", Counter, "Nothing.", nil},
	)))
}

func TestRequests(t *testing.T) {
	var r Requests
	assert.Empty(t, r.Family().Samples)
	pods := Request{Code: 201, DryRun: true, Version: "v1", Resource: "pods", Scope: "resource", Verb: "POST"}
	r.Count(pods)
	r.Count(pods)
	r.Count(Request{Code: 200, Verb: "GET"})
	assert.Equal(t, []Sample{
		{[]string{"code", "200", "component", "", "dry_run", "", "group", "", "resource", "", "scope", "", "subresource", "", "verb", "GET", "version", ""}, 1},
		{[]string{"code", "201", "component", "apiserver", "dry_run", "All", "group", "", "resource", "pods", "scope", "resource", "subresource", "", "verb", "POST", "version", "v1"}, 2},
	}, r.Family().Samples)
}
