package flowcontrol

import (
	"iter"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// objects returns objects whose UIDs are their names.
func objects(bodies map[string]string) iter.Seq[*storage.Object] {
	var all []*storage.Object
	for name, body := range bodies {
		o := storage.FromJSON(&resource.Type{}, &storage.Object{Name: name}, []byte(`{"metadata":{"name":"`+name+`","uid":"`+name+`"},"spec":`+body+"}\n"))
		all = append(all, o)
	}
	return slices.Values(all)
}

// schema returns the spec of a FlowSchema.
func schema(precedence int, level, rules string) string {
	return `{"matchingPrecedence":` + strconv.Itoa(precedence) + `,"priorityLevelConfiguration":{"name":"` + level + `"},"rules":[` + rules + `]}`
}

func TestClassify(t *testing.T) {
	const (
		everybody = `"subjects":[{"kind":"Group","group":{"name":"system:authenticated"}}]`
		bob       = `"subjects":[{"kind":"User","user":{"name":"bob"}}]`
	)
	c := New(objects(map[string]string{
		"masters":   schema(1, "exempt", `{"subjects":[{"kind":"Group","group":{"name":"system:masters"}}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"],"clusterScope":true}]}`),
		"dangling":  schema(2, "nowhere", `{`+bob+`,"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`),
		"late":      schema(9, "low", `{`+bob+`,"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/status"],"namespaces":["a"]}]}`),
		"early":     schema(5, "high", `{`+bob+`,"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"namespaces":["*"]}]}`),
		"early-too": schema(5, "low", `{`+bob+`,"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"namespaces":["*"],"clusterScope":true}]}`),
		"paths":     schema(6, "low", `{`+bob+`,"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/foo/*","/bar"]}]}`),
		"robots":    schema(7, "low", `{"subjects":[{"kind":"ServiceAccount","serviceAccount":{"namespace":"a","name":"*"}},{"kind":"ServiceAccount","serviceAccount":{"namespace":"b","name":"one"}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`),
		"catch-all": schema(10000, "catch-all", `{`+everybody+`,"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}`),
	}), objects(map[string]string{"exempt": `{}`, "low": `{}`, "high": `{}`, "catch-all": `{}`}))

	pods := func(verb, namespace, subresource string) authz.Attributes {
		return authz.Attributes{Verb: verb, IsResource: true, Resource: "pods", Subresource: subresource, Namespace: namespace}
	}
	path := func(path string) authz.Attributes { return authz.Attributes{Verb: "get", Path: path} }
	for _, tt := range []struct {
		name, user string
		groups     []string
		at         authz.Attributes
		want       Class
	}{
		{"by group", "admin", []string{"system:masters"}, pods("get", "a", ""), Class{"masters", "exempt"}},
		{"names order an equal precedence", "bob", nil, pods("get", "a", ""), Class{"early", "high"}},
		{"cluster scope", "bob", nil, pods("get", "", ""), Class{"early-too", "low"}},
		{"subresource", "bob", nil, pods("get", "a", "status"), Class{"late", "low"}},
		{"another namespace", "bob", nil, pods("get", "b", "status"), Class{"catch-all", "catch-all"}},
		{"another verb", "bob", nil, pods("list", "a", ""), Class{"catch-all", "catch-all"}},
		{"path below", "bob", nil, path("/foo/x"), Class{"paths", "low"}},
		{"path of a pattern itself", "bob", nil, path("/foo"), Class{"catch-all", "catch-all"}},
		{"path", "bob", nil, path("/bar"), Class{"paths", "low"}},
		{"path below a path", "bob", nil, path("/bar/x"), Class{"paths", "low"}},
		{"path with a path as prefix", "bob", nil, path("/barx"), Class{"catch-all", "catch-all"}},
		{"any service account", "system:serviceaccount:a:x", nil, path("/"), Class{"robots", "low"}},
		{"a service account", "system:serviceaccount:b:one", nil, path("/"), Class{"robots", "low"}},
		{"another service account", "system:serviceaccount:b:two", nil, path("/"), Class{"catch-all", "catch-all"}},
		{"nobody's", "eve", nil, pods("get", "a", ""), Class{"catch-all", "catch-all"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := c.Classify(&authn.User{Name: tt.user, Groups: tt.groups}, &tt.at)
			require.NotNil(t, got)
			assert.Equal(t, tt.want, *got)
		})
	}
	assert.Nil(t, New(objects(nil), objects(nil)).Classify(&authn.User{}, &authz.Attributes{}))
}
