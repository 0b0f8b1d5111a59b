package dynamic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/admission"
)

func TestCriteria(t *testing.T) {
	const rules = `"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]`
	const scaler = `{"apiVersion":"autoscaling/v2","metadata":{"name":"h","namespace":"n"}}`
	r := newTypes(t)
	for _, tt := range []struct {
		name, criteria string
		operation      admission.Operation
		object, old    string
		want           string // the kind of the matching version; "" for no match
	}{
		{"rule", rules, admission.Create, configMap, "", "/v1 ConfigMap"},
		{"other operation", rules, admission.Delete, "", configMap, ""},
		{"any operation", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]`, admission.Delete, "", configMap, "/v1 ConfigMap"},
		{"other group", `"rules":[{"operations":["*"],"apiGroups":["apps"],"apiVersions":["*"],"resources":["*"]}]`, admission.Create, configMap, "", ""},
		{"other resource", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["pods","*/status"]}]`, admission.Create, configMap, "", ""},
		{"resource and its subresources", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["configmaps/*"]}]`, admission.Create, configMap, "", "/v1 ConfigMap"},
		{"cluster scope", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"}]`, admission.Create, configMap, "", ""},
		{"namespaced scope", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"}]`, admission.Create, configMap, "", "/v1 ConfigMap"},
		{"name", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["a"]}]`, admission.Create, configMap, "", "/v1 ConfigMap"},
		{"other name", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["b"]}]`, admission.Create, configMap, "", ""},
		{"excluded", rules + `,"excludeResourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]`, admission.Create, configMap, "", ""},
		{"namespace", rules + `,"namespaceSelector":{"matchLabels":{"tier":"gold"}}`, admission.Create, configMap, "", "/v1 ConfigMap"},
		{"other namespace", rules + `,"namespaceSelector":{"matchLabels":{"tier":"lead"}}`, admission.Create, configMap, "", ""},
		{"labels", rules + `,"objectSelector":{"matchLabels":{"app":"web"}}`, admission.Create, configMap, "", "/v1 ConfigMap"},
		{"other labels", rules + `,"objectSelector":{"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]}`, admission.Create, configMap, "", ""},
		{"labels of the old object", `"objectSelector":{"matchLabels":{"app":"web"}}`, admission.Update, `{"metadata":{"name":"a"}}`, configMap, "/v1 ConfigMap"},
		{"no rules", ``, admission.Update, configMap, configMap, "/v1 ConfigMap"},
		{"equivalent version", `"rules":[{"operations":["*"],"apiGroups":["autoscaling"],"apiVersions":["v1"],"resources":["*"]}]`, admission.Create, scaler, "", "autoscaling/v1 HorizontalPodAutoscaler"},
		{"exact version", `"matchPolicy":"Exact","rules":[{"operations":["*"],"apiGroups":["autoscaling"],"apiVersions":["v1"],"resources":["*"]}]`, admission.Create, scaler, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: r, objects: []map[string]any{decode(t, namespace)}}
			c := compileCriteria(decode(t, "{"+tt.criteria+"}"), "rules")
			got := ""
			if as, ok := c.match(&request{Attributes: newAttributes(t, s, tt.operation, tt.object, tt.old), server: s}); ok {
				got = fmt.Sprintf("%s/%s %s", as.kind.Group, as.kind.Version, as.kind.Kind)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// The labels of a Namespace in the request decide, not those of the stored one.
func TestNamespaceSelectorOfNamespaces(t *testing.T) {
	typ := newTypes(t).Lookup("", "v1", "namespaces")
	r := &request{Attributes: &admission.Attributes{Operation: admission.Create, Type: typ, Codec: typ.Codec, Namespace: "n", Name: "n", Object: decode(t, namespace)}}
	gold := compileCriteria(decode(t, `{"namespaceSelector":{"matchLabels":{"tier":"gold"}}}`), "rules")
	_, ok := gold.match(r)
	assert.True(t, ok)
	cluster := compileRules(decode(t, `{"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"}]}`)["rules"])[0]
	assert.True(t, cluster.match(r, typ))
}
