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
			p, err := ParsePolicy([]byte("{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [Panic], rules: ["+braces(tt.rule)+"]}"), 0)
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

// The errors are those of kube-apiserver.
func TestParsePolicy(t *testing.T) {
	const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
	for _, tt := range []struct{ name, text, err string }{
		{"without a kind", "apiVersion: audit.k8s.io/v1\nrules: [{level: None}]", ""},
		{"unknown and repeated fields", head + "other: 1\nrules: [{level: None}]\nrules: [{level: None}]", ""},
		{"flow style", "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None}]}", ""},
		{"all groups", head + `rules: [{level: None, resources: [{group: "*"}]}]`, ""},

		{"no YAML", "[", "failed decoding: yaml: line 1: did not find expected node content"},
		{"nothing", "", "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy"},
		{"no version", "kind: Policy\nrules: [{level: None}]", "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy"},
		{"another kind", "apiVersion: audit.k8s.io/v1\nkind: Other", `failed decoding: no kind "Other" is registered for version "audit.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"another kind of the group", "apiVersion: audit.k8s.io/v1\nkind: EventList", "failed decoding: converting (v1.EventList) to (audit.Policy): unknown conversion"},
		{"another internal kind", "kind: Event", "failed decoding: converting (audit.Event) to (audit.Policy): unknown conversion"},
		{"another version", "apiVersion: audit.k8s.io/v1beta1\nkind: Policy", `failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1" in scheme "pkg/runtime/scheme.go:111"`},
		{"a part of JSON", `{"apiVersion":"audit.k8s.io/v1"`, "failed decoding: couldn't get version/kind; json parse error: line 1, column 31: unexpected end of JSON input"},
		{"a boolean is no text", head + "rules: [{level: None, users: [true]}]", "failed decoding: rules[0].users[0]: expected a string, not a boolean"},
		{"a name in other case", head + "Rules: [{level: None}]", "loaded illegal policy with 0 rules"},
		{"no rules", head, "loaded illegal policy with 0 rules"},
		{"no rules and a stage", head + "omitStages: [End]", `omitStages[0]: Invalid value: "End": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic`},
		{"no level", head + "rules: [{}]", "rules[0].level: Required value"},
		{"level", head + "rules: [{level: All}]", `rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"`},
		{"path", head + "rules: [{level: None, nonResourceURLs: [a]}]", `rules[0].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin with a '/' character`},
		{"wildcard in a path", head + "rules: [{level: None, nonResourceURLs: [/a*/b]}]", `rules[0].nonResourceURLs[0]: Invalid value: "/a*/b": non-resource URL wildcards '*' must be the final character of the rule`},
		{"paths and namespaces", head + "rules: [{level: None, namespaces: [a], nonResourceURLs: [/a]}]", `rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs`},
		{"group with a version", head + "rules: [{level: None, resources: [{group: apps/v1}]}]", `rules[0].resources.group: Invalid value: "apps/v1": ` + subdomain},
		{"names without resources", head + "rules: [{level: None, resources: [{resourceNames: [a]}]}]", `rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParsePolicy([]byte(tt.text), 0)
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
		})
	}
}

const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
	"(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

// Releases before 1.36 do not have the group "*".
func TestAllGroupsInOldReleases(t *testing.T) {
	_, err := ParsePolicy([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, resources: [{group: \"*\"}]}]"), 35)
	assert.EqualError(t, err, `rules[0].resources.group: Invalid value: "*": `+subdomain)
}
