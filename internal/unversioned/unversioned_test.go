package unversioned

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release/data"
)

func decode(t *testing.T, doc string) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(doc), &v))
	return v
}

func TestValue(t *testing.T) {
	for _, test := range []struct{ name, typ, doc, want string }{
		{"every field is printed", "core.SeccompProfile", `{"type":"Localhost"}`, `{"Type":"Localhost","LocalhostProfile":null}`},
		{"fields have their Go names", "core.RBDVolumeSource", `{"monitors":["a"],"image":"i","user":"u"}`,
			`{"CephMonitors":["a"],"RBDImage":"i","FSType":"","RBDPool":"","RadosUser":"u","Keyring":"","SecretRef":null,"ReadOnly":false}`},
		{"missing structs are zero", "core.PreferredSchedulingTerm", `{"weight":1}`, `{"Weight":1,"Preference":{"MatchExpressions":null,"MatchFields":null}}`},
		{"missing quantities are 0", "core.ResourceFieldSelector", `{"resource":"r"}`, `{"ContainerName":"","Resource":"r","Divisor":"0"}`},
		{"JSON tags are used", "*metav1.LabelSelector", `{"matchLabels":{"b":"<","a":""}}`, `{"matchLabels":{"a":"","b":"\u003c"}}`},
		{"fields of embedded structs", "core.PersistentVolumeClaimTemplate", `{"metadata":{"labels":{"a":"b"}}}`, `{"labels":{"a":"b"},"Spec":{"AccessModes":null,"Selector":null,` +
			`"Resources":{"Limits":null,"Requests":null},"VolumeName":"","StorageClassName":null,"VolumeMode":null,"DataSource":null,"DataSourceRef":null,"VolumeAttributesClassName":null}}`},
		{"omitempty keeps pointers to zero", "metav1.OwnerReference", `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":false}`,
			`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":false}`},
		{"nested structs", "core.SecurityContext", `{"seLinuxOptions":{"user":"u"}}`, `{"Capabilities":null,"Privileged":null,"SELinuxOptions":{"User":"u","Role":"","Type":"","Level":""},` +
			`"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":null,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}`},
		{"lists", "[]core.PodIP", `[{"ip":"10.0.0.1"}]`, `[{"IP":"10.0.0.1"}]`},
		{"integers or strings", "policy.PodDisruptionBudgetSpec", `{"minAvailable":1,"maxUnavailable":"5%"}`, `{"MinAvailable":1,"Selector":null,"MaxUnavailable":"5%","UnhealthyPodEvictionPolicy":null}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := json.Marshal(Value{Type: test.typ, Value: decode(t, test.doc)})
			require.NoError(t, err)
			assert.Equal(t, test.want, string(text))
		})
	}
}

func TestJSONSchemaPropsOr(t *testing.T) {
	print := func(typ, doc string) string {
		text, err := json.Marshal(Value{Type: "*apiextensions.JSONSchemaPropsOr" + typ, Value: decode(t, doc)})
		require.NoError(t, err)
		return string(text)
	}
	assert.Equal(t, `{"Allows":false,"Schema":null}`, print("Bool", `false`))
	assert.Contains(t, print("Bool", `{"type":"string"}`), `{"Allows":true,"Schema":{"ID":"",`)
	assert.Contains(t, print("Array", `{"type":"string"}`), `"Type":"string"`)
	assert.Contains(t, print("Array", `[{"type":"string"}]`), `{"Schema":null,"JSONSchemas":[{"ID":"",`)
	assert.Equal(t, `{"Schema":null,"Property":["a"]}`, print("StringArray", `["a"]`))
}

func TestPodSpecMovesToSecurityContext(t *testing.T) {
	spec := decode(t, `{"hostNetwork":true,"hostUsers":false,"securityContext":{"runAsUser":1}}`)
	newest, err := json.Marshal(Value{Type: "core.PodSpec", Value: spec})
	require.NoError(t, err)
	assert.Contains(t, string(newest), `"HostNetwork":true,"HostPID":false,"HostIPC":false,"ShareProcessNamespace":null,"SecurityContext":{"SELinuxOptions":null,`)
	text, err := json.Marshal(Value{Type: "core.PodSpec", Value: spec, Minor: 36})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"SecurityContext":{"HostNetwork":true,"HostPID":false,"HostIPC":false,"ShareProcessNamespace":null,"HostUsers":false,`)
	assert.Contains(t, string(text), `"RunAsUser":1,`)
}

func TestTypesOfOlderReleases(t *testing.T) {
	for _, test := range []struct {
		typ, doc, want string
		minor          int
	}{
		{"autoscaling.HPAScalingRules", `{"selectPolicy":"Max"}`, `{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":null,"Tolerance":null}`, 33},
		{"autoscaling.HPAScalingRules", `{"selectPolicy":"Max"}`, `{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":null}`, 32},
		{"resource.DeviceRequest", `{"name":"a","exactly":{"deviceClassName":"c","count":1}}`,
			`{"Name":"a","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"","Count":1,"AdminAccess":null,"Tolerations":null},"FirstAvailable":null}`, 33},
		{"resource.DeviceRequest", `{"name":"a","exactly":{"deviceClassName":"c","count":1}}`,
			`{"Name":"a","DeviceClassName":"c","Selectors":null,"AllocationMode":"","Count":1,"AdminAccess":null}`, 32},
		{"resource.Device", `{"name":"a","capacity":{"m":{"value":"1"}}}`, `{"Name":"a","Basic":{"Attributes":null,"Capacity":{"m":{"Value":"1"}}}}`, 32},
	} {
		text, err := json.Marshal(Value{Type: test.typ, Value: decode(t, test.doc), Minor: test.minor})
		require.NoError(t, err)
		assert.Equal(t, test.want, string(text))
	}
}

func TestEveryTypePrints(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(data.Unversioned()), "\n") {
		name, _, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		text, err := json.Marshal(Value{Type: name, Value: map[string]any{}})
		require.NoError(t, err, name)
		assert.True(t, json.Valid(text), name)
	}
}

func TestDiff(t *testing.T) {
	const typ = "core.NodeSelectorTerm"
	old := decode(t, `{"matchExpressions":[{"key":"a","operator":"Exists"}]}`)
	assert.Empty(t, Diff(0, typ, old, old))
	assert.Equal(t, `@@ -1,9 +1,11 @@
 {
  "MatchExpressions": [
   {
-   "Key": "a",
-   "Operator": "Exists",
-   "Values": null
+   "Key": "b",
+   "Operator": "In",
+   "Values": [
+    "c"
+   ]
   }
  ],
  "MatchFields": null
`, Diff(0, typ, old, decode(t, `{"matchExpressions":[{"key":"b","operator":"In","values":["c"]}]}`)))
}

// The hunks are those of Python's difflib.unified_diff.
func TestUnified(t *testing.T) {
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	edited := func(edit func([]string) []string) []string { return edit(append([]string(nil), letters...)) }
	var long []string // with a line that is too common to start a match
	for i := range 300 {
		long = append(long, fmt.Sprint(i), "{")
	}
	for _, test := range []struct {
		name string
		a, b []string
		want string
	}{
		{"equal", letters, letters, ""},
		{"changed at the start", letters, edited(func(l []string) []string { l[0] = "A"; return l }), "@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n"},
		{"added at the end", letters, append(edited(func(l []string) []string { return l }), "!"), "@@ -24,3 +24,4 @@\n x\n y\n z\n+!\n"},
		{"removed", letters, append(edited(func(l []string) []string { return l[:10] }), letters[11:]...), "@@ -8,7 +8,6 @@\n h\n i\n j\n-k\n l\n m\n n\n"},
		{"two far apart", letters, edited(func(l []string) []string { l[3], l[20] = "D", "U"; return l }),
			"@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n@@ -18,7 +18,7 @@\n r\n s\n t\n-u\n+U\n v\n w\n x\n"},
		{"two close together", letters, edited(func(l []string) []string { l[3], l[7] = "D", "H"; return l }),
			"@@ -1,11 +1,11 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n-h\n+H\n i\n j\n k\n"},
		{"from nothing", nil, []string{"a"}, "@@ -0,0 +1 @@\n+a\n"},
		{"common lines", long, append(append([]string(nil), long[:300]...), append([]string{"new", "{"}, long[300:]...)...),
			"@@ -298,6 +298,8 @@\n {\n 149\n {\n+new\n+{\n 150\n {\n 151\n"},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, unified(test.a, test.b)) })
	}
}
