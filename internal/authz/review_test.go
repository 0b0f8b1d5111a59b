package authz

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
)

func TestReviewAccess(t *testing.T) {
	const pods = `"resourceAttributes":{"verb":"get","resource":"pods","namespace":"a"`
	allowed := map[string]any{"allowed": true, "reason": `RBAC: allowed by ClusterRoleBinding "pods" of ClusterRole "pods" to User "alice"`}
	for _, tt := range []struct {
		name, resource, body string
		status               map[string]any
		err                  string
	}{
		{"own access", selfReviews, `{"spec":{` + pods + `}}}`, allowed, ""},
		{"access of another user", "subjectaccessreviews", `{"spec":{"user":"alice",` + pods + `}}}`, allowed, ""},
		{"not allowed", "subjectaccessreviews", `{"spec":{"user":"bob",` + pods + `}}}`, map[string]any{"allowed": false}, ""},
		{"path", selfReviews, `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/healthz"}}}`, map[string]any{"allowed": false}, ""},
		{"local", "localsubjectaccessreviews", `{"metadata":{"namespace":"a"},"spec":{"user":"alice",` + pods + `}}}`, allowed, ""},
		{"selector that does not parse", selfReviews, `{"spec":{` + pods + `,"fieldSelector":{"rawSelector":"a=b=c,,"},"labelSelector":{"requirements":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Like"}]}}}}`,
			map[string]any{"allowed": true, "reason": allowed["reason"], "evaluationError": "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error"}, ""},

		{"no attributes", selfReviews, `{"spec":{}}`, nil, "exactly one of nonResourceAttributes or resourceAttributes must be specified"},
		{"both attributes", selfReviews, `{"spec":{` + pods + `},"nonResourceAttributes":{"path":"/x","verb":"get"}}}`, nil, "exactly one of nonResourceAttributes or resourceAttributes must be specified"},
		{"no subject", "subjectaccessreviews", `{"spec":{` + pods + `}}}`, nil, "at least one of user or group must be specified"},
		{"metadata", selfReviews, `{"metadata":{"name":"x"},"spec":{` + pods + `}}}`, nil, "must be empty"},
		{"two namespaces", "localsubjectaccessreviews", `{"metadata":{"namespace":"b"},"spec":{"user":"alice",` + pods + `}}}`, nil, "must match metadata.namespace"},
		{"local path", "localsubjectaccessreviews", `{"metadata":{"namespace":"b"},"spec":{"user":"alice","nonResourceAttributes":{"path":"/x","verb":"get"}}}`, nil, "disallowed on this kind of request"},
		{"empty selector", selfReviews, `{"spec":{` + pods + `,"fieldSelector":{}}}}`, nil, "requirements or rawSelector is required"},
		{"selector as text and as requirements", selfReviews, `{"spec":{` + pods + `,"fieldSelector":{"rawSelector":"a=b","requirements":[{"key":"a","operator":"In","values":["b"]}]}}}}`, nil, "may not specified at the same time as requirements"},
		{"requirement without values", selfReviews, `{"spec":{` + pods + `,"fieldSelector":{"requirements":[{"key":"a","operator":"In"}]}}}}`, nil, "must be specified when `operator` is 'In' or 'NotIn'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			policy := newStorePolicy(t)
			typ := policy.Types.Lookup("authorization.k8s.io", "v1", tt.resource)
			review := decode(t, typ, tt.body)
			err := permitted(policy).ReviewAccess(context.Background(), nil, typ, review, &authn.User{Name: "alice"})
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tt.status, review["status"])
		})
	}
}

// failing is a mode that has no opinion because it fails.
type failing struct{ AlwaysDeny }

func (failing) Authorize(context.Context, *authn.User, *Attributes) Decision {
	return Decision{Err: errors.New("it is down")}
}

// The error of a mode comes before the selectors that do not parse.
func TestReviewOfFailingMode(t *testing.T) {
	policy := newStorePolicy(t)
	typ := policy.Types.Lookup("authorization.k8s.io", "v1", selfReviews)
	review := decode(t, typ, `{"spec":{"resourceAttributes":{"verb":"get","fieldSelector":{"rawSelector":"a"}}}}`)
	require.NoError(t, Authorizer{Modes: []Mode{failing{}}}.ReviewAccess(context.Background(), nil, typ, review, &authn.User{Name: "alice"}))
	assert.Equal(t, map[string]any{"allowed": false, "evaluationError": "it is down; spec.resourceAttributes.fieldSelector ignored due to parse error"}, review["status"])
}

func TestReviewRules(t *testing.T) {
	rbac := permitted(newStorePolicy(t))
	got, err := rbac.ReviewRules(map[string]any{"spec": map[string]any{"namespace": "a"}}, &authn.User{Name: "alice"})
	assert.NoError(t, err)
	assert.Len(t, got["resourceRules"], 2)
	assert.Empty(t, got["nonResourceRules"])
	assert.NotContains(t, got, "evaluationError")
	_, err = rbac.ReviewRules(map[string]any{}, &authn.User{Name: "alice"})
	assert.EqualError(t, err, "no namespace on request")
}
