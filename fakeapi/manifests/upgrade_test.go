package manifests_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// aTemplate is the end of a StatefulSet or Deployment.
const aTemplate = `
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: a}]}
`

// upgradeLines returns the findings, each in a line with its releases and writes.
func upgradeLines(r *manifests.Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		message, _, _ := strings.Cut(f.Message, "\n")
		fmt.Fprintf(&b, "%d:%d %s: %.110s %v %v\n", f.Line, f.Column, f.Severity, message, f.Releases, f.Writes)
	}
	return b.String()
}

// A real kube-apiserver of v1.37 over the etcd of one of v1.33 answers the same to all of these.
func TestUpgrade(t *testing.T) {
	for _, row := range []struct {
		name, input string
		outcome     manifests.Outcome
		want        string
	}{
		{"nothing changes", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:" + aTemplate, manifests.Valid, ""},
		{"a new rule, from which an update is exempt", `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  maxReplicas: 3
  scaleTargetRef: {kind: Deployment, name: d, apiVersion: a/b/c}
`, manifests.Invalid, `7:47 error: spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c [v1.34.4 v1.35.4 v1.36.3 v1.37.2] [create]
`},
		{"a default of a gate that is on", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:" + aTemplate, manifests.Valid,
			`4:1 warning: spec.updateStrategy.rollingUpdate.maxUnavailable: served as 1, was not there before [v1.37.2] []
`},
		{"a field that is dropped first", `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a}
spec:
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}` + aTemplate, manifests.Valid,
			`6:57 warning: spec.updateStrategy.rollingUpdate.maxUnavailable: served as 1, was not there before [v1.37.2] []
6:57 warning: spec.updateStrategy.rollingUpdate.maxUnavailable: set to 2 when it is applied again, is 1 [v1.37.2] []
6:57 note: spec.updateStrategy.rollingUpdate.maxUnavailable: the feature gate MaxUnavailableStatefulSet is on, was off [v1.37.2] []
`},
		{"a field of a Pod that cannot be set later", `
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  resources: {requests: {cpu: 1}}
  containers: [{name: a, image: a}]
`, manifests.Invalid, "5:1 error: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[ [v1.34.4 v1.35.4 v1.36.3 v1.37.2] [apply]\n" +
			"6:3 note: spec.resources: the feature gate PodLevelResources is on, was off [v1.34.4 v1.35.4 v1.36.3 v1.37.2] []\n"},
		{"new warnings", `
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {ports: [{port: 80}], trafficDistribution: PreferClose}
`, manifests.Valid, `5:29 warning: spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone" [v1.35.4 v1.36.3 v1.37.2] []
`},
		{"an error that becomes a warning for what is stored", `
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {ports: [{port: 80}], externalIPs: [010.1.2.3]}
`, manifests.Invalid, `5:29 warning: spec.externalIPs is deprecated and may no longer be implemented in some clusters [v1.36.3 v1.37.2] [update apply]
5:43 error: spec.externalIPs[0]: Invalid value: "010.1.2.3": must not have leading 0s [v1.36.3 v1.37.2] [create]
5:43 warning: spec.externalIPs[0]: non-standard IP address "010.1.2.3" is invalid: use "10.1.2.3" [v1.36.3 v1.37.2] [update apply]
`},
		{"a default of a new field", `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: a}
spec: {podInfoOnMount: true}
`, manifests.Valid, `5:1 warning: spec.preventPodSchedulingIfMissing: served as false, was not there before [v1.37.2] []
`},
		{"refused from the beginning, in other words", `
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: a}], tolerations: [{key: a, operator: Gt, value: "5"}]}
`, manifests.Invalid, `5:66 error: spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt" [] []
`},
		{"accepted only later", `
apiVersion: v1
kind: Service
metadata: {name: 1a}
spec: {ports: [{port: 80}]}
`, manifests.Invalid, `4:12 error: metadata.name: Invalid value: "1a": a DNS-1035 label must consist of lower case alphanumeric characters or '-' [v1.33.13 v1.34.4 v1.35.4] []
`},
		{"a kind of a later release", `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: a}
spec: {}
`, manifests.MissingKind, `3:1 error: no matches for kind "DeviceClass" in version "resource.k8s.io/v1"; served from v1.34 on [v1.33.13] []
`},
		{"a custom resource", `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a}
spec: {size: 1}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, manifests.Valid, ""},
		{"by a policy at the beginning", `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: none}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "false"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: none}
spec: {policyName: none, validationActions: [Deny]}
`, manifests.Invalid, `2:1 error: configmaps "a" is forbidden: ValidatingAdmissionPolicy 'none' with binding 'none' denied request: failed expre [] []
`},
		{"an object with a generated name", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {generateName: a-}\nspec:" + aTemplate, manifests.Valid,
			`4:1 warning: spec.updateStrategy.rollingUpdate.maxUnavailable: served as 1, was not there before [v1.37.2] []
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := validate(t, manifests.Config{From: "1.33", To: "1.37"}, row.input)[0]
			assert.Equal(t, row.want, upgradeLines(r))
			assert.Equal(t, row.outcome, r.Outcome)
			var releases []string
			for _, a := range r.Answers {
				releases = append(releases, a.Release)
			}
			assert.Equal(t, []string{"v1.33.13", "v1.34.4", "v1.35.4", "v1.36.3", "v1.37.2"}, releases)
		})
	}
}

// The objects of a cluster are stored as they are: what would refuse them does not.
func TestUpgradeCluster(t *testing.T) {
	const meta = `uid: 4ad2f8a8-6fc5-4ae0-ae0a-7a9a2ac3e1b7, creationTimestamp: "2024-01-01T00:00:00Z", resourceVersion: "7"`
	for _, row := range []struct {
		name, input string
		from        string // "" for 1.33
		outcome     manifests.Outcome
		want        string
	}{
		{"invalid by every release", `
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop, ` + meta + `}
spec: {containers: [{name: a, image: a, env: [{name: "=", value: x}]}]}
status: {phase: Running}
`, "", manifests.Valid, ""},
		{"above a quota", `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default, ` + meta + `}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: a, namespace: default, uid: 4ad2f8a8-6fc5-4ae0-ae0a-7a9a2ac3e1b8}
spec: {hard: {configmaps: 0}}
status: {hard: {configmaps: 0}, used: {configmaps: 1}}
`, "", manifests.Valid, ""},
		{"with addresses of a range of its own", `
apiVersion: v1
kind: Service
metadata: {name: a, namespace: default, ` + meta + `}
spec: {clusterIP: 172.20.1.1, clusterIPs: [172.20.1.1], ports: [{port: 80}], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}
---
apiVersion: networking.k8s.io/v1
kind: ServiceCIDR
metadata: {name: kubernetes, uid: 4ad2f8a8-6fc5-4ae0-ae0a-7a9a2ac3e1b8}
spec: {cidrs: [172.20.0.0/16]}
status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2024-01-01T00:00:00Z", reason: "", message: ""}]}
`, "", manifests.Valid, ""},
		{"that the server has too", `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: cluster-admin, ` + meta + `}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
`, "", manifests.Valid, ""},
		{"written in a version that goes", `
apiVersion: networking.k8s.io/v1
kind: IPAddress
metadata:
  name: 10.0.0.7
  uid: 4ad2f8a8-6fc5-4ae0-ae0a-7a9a2ac3e1b7
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"networking.k8s.io/v1beta1"}'}
  managedFields:
  - {manager: robot, operation: Update, apiVersion: networking.k8s.io/v1beta1, fieldsType: FieldsV1, fieldsV1: {}}
spec: {parentRef: {resource: services, namespace: default, name: a}}
`, "1.33-all", manifests.Valid, `7:17 warning: kubectl apply writes it as networking.k8s.io/v1beta1: no matches for kind "IPAddress" in version "networking.k [v1.37.2] []
9:41 warning: robot writes it as networking.k8s.io/v1beta1: no matches for kind "IPAddress" in version "networking.k8s.io/v1 [v1.37.2] []
`},
		{"refused when it is created, and later also when it is updated", `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a, namespace: default, ` + meta + `}
spec:` + aTemplate + `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: frozen, uid: 4ad2f8a8-6fc5-4ae0-ae0a-7a9a2ac3e1b8}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ["*"], resources: [statefulsets]}]}
  validations: [{expression: "oldObject != null && !has(object.spec.updateStrategy.rollingUpdate.maxUnavailable)", message: frozen}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: frozen, uid: 4ad2f8a8-6fc5-4ae0-ae0a-7a9a2ac3e1b9}
spec: {policyName: frozen, validationActions: [Deny]}
`, "1.36", manifests.Invalid, `2:1 error: statefulsets.apps "a" is forbidden: ValidatingAdmissionPolicy 'frozen' with binding 'frozen' denied request: f [v1.37.2] [update]
5:1 warning: spec.updateStrategy.rollingUpdate.maxUnavailable: served as 1, was not there before [v1.37.2] []
`},
		{"refused when it is created again", `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a, namespace: default, ` + meta + `}
spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d, apiVersion: a/b/c}}
`, "", manifests.Invalid, `5:68 error: spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c [v1.34.4 v1.35.4 v1.36.3 v1.37.2] [create]
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := validate(t, manifests.Config{From: cmp.Or(row.from, "1.33"), To: "1.37"}, row.input)[0]
			assert.Equal(t, row.want, upgradeLines(r))
			assert.Equal(t, row.outcome, r.Outcome)
		})
	}
}

// An object of a cluster leaves no trace for the others, in whatever order they are validated.
func TestUpgradeIsolates(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}\n", i%30)
	}
	b.WriteString("---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {services: 2}}\n") // the server has one
	for _, r := range validate(t, manifests.Config{From: "1.35", To: "1.36", Workers: 8}, b.String()) {
		assert.Equal(t, manifests.Valid, r.Outcome, lines([]*manifests.Result{r}))
	}
}

func TestUpgradeReleases(t *testing.T) {
	for _, row := range []struct {
		config manifests.Config
		want   string
	}{
		{manifests.Config{From: "1.37", To: "1.33"}, "From is not the older release"},
		{manifests.Config{From: "1.37"}, "an upgrade from v1.37.2 to v1.37.2"},
		{manifests.Config{From: "1.2"}, "From: unknown release"},
		{manifests.Config{From: "1.33", To: "1.99"}, "To: unknown release"},
		{manifests.Config{From: "1.33", Releases: []string{"1.34"}}, "neither Releases nor Base"},
		{manifests.Config{To: "1.34"}, "To needs From"},
	} {
		var last error
		for _, err := range manifests.Validate(context.Background(), row.config, "-") {
			last = err
		}
		require.ErrorIs(t, last, fakeapi.ErrInvalidOption)
		assert.ErrorContains(t, last, row.want)
	}
}
