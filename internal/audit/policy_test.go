package audit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
)

func TestSelect(t *testing.T) {
	alice := &authn.User{Name: "alice", Groups: []string{"devs"}}
	pods := authz.Attributes{Verb: "get", IsResource: true, Resource: "pods", Namespace: "shop", Name: "p"}
	log := pods
	log.Subresource = "log"
	health := authz.Attributes{Verb: "get", Path: "/healthz/ping"}
	for _, tt := range []struct {
		name string
		rule string
		user *authn.User
		at   authz.Attributes
		want bool
	}{
		{"everything", `level: Metadata`, nil, pods, true},
		{"user", `{level: Metadata, users: [alice]}`, alice, pods, true},
		{"no user", `{level: Metadata, users: [alice]}`, nil, pods, false},
		{"group", `{level: Metadata, userGroups: [ops, devs]}`, alice, pods, true},
		{"other group", `{level: Metadata, userGroups: [ops]}`, alice, pods, false},
		{"verb", `{level: Metadata, verbs: [list]}`, alice, pods, false},
		{"namespace", `{level: Metadata, namespaces: [shop]}`, alice, pods, true},
		{"namespace of a path", `{level: Metadata, namespaces: [""]}`, alice, health, false},
		{"resource", `{level: Metadata, resources: [{resources: [pods]}]}`, alice, pods, true},
		{"subresource is another resource", `{level: Metadata, resources: [{resources: [pods]}]}`, alice, log, false},
		{"subresource", `{level: Metadata, resources: [{resources: [pods/log]}]}`, alice, log, true},
		{"all subresources", `{level: Metadata, resources: [{resources: [pods/*]}]}`, alice, log, true},
		{"subresource of all", `{level: Metadata, resources: [{resources: ["*/log"]}]}`, alice, log, true},
		{"other group of resources", `{level: Metadata, resources: [{group: apps}]}`, alice, pods, false},
		{"all groups", `{level: Metadata, resources: [{group: "*"}]}`, alice, pods, true},
		{"name", `{level: Metadata, resources: [{resources: [pods], resourceNames: [q]}]}`, alice, pods, false},
		{"path", `{level: Metadata, nonResourceURLs: ["/healthz*"]}`, alice, health, true},
		{"other path", `{level: Metadata, nonResourceURLs: [/healthz]}`, alice, health, false},
		{"path of a resource", `{level: Metadata, nonResourceURLs: ["*"]}`, alice, pods, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := ParsePolicy([]byte("{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [Panic], rules: [" + braces(tt.rule) + "]}"))
			require.NoError(t, err)
			want := Selection{Level: None}
			if tt.want {
				want = Selection{Level: Metadata, OmitStages: []string{Panic}}
			}
			assert.Equal(t, want, p.Select(tt.user, &tt.at))
		})
	}
}

// braces returns a rule as a flow mapping.
func braces(rule string) string {
	if rule[0] == '{' {
		return rule
	}
	return "{" + rule + "}"
}

func TestParsePolicy(t *testing.T) {
	for text, want := range map[string]string{
		"[": "failed decoding", "{kind: Policy}": `no kind "Policy" is registered`,
		"{apiVersion: audit.k8s.io/v1, kind: Policy}":                                                                 "loaded illegal policy with 0 rules",
		"{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{}]}":                                                    "rules[0].level: Required value",
		"{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: All}]}":                                          `rules[0].level: Unsupported value: "All"`,
		"{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None, nonResourceURLs: [a]}]}":                   "must begin with a '/' character",
		"{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [End], rules: [{level: None}]}":                      `omitStages[0]: Unsupported value: "End"`,
		"{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None, nonResourceURLs: [/a*/b]}]}":               "must be the final character",
		"{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None, namespaces: [n], nonResourceURLs: [/a]}]}": "cannot apply to both",
	} {
		_, err := ParsePolicy([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}
