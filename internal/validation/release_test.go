package validation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// oldRelease is a release with some feature gates on, and without privileged containers in v1.32.
type oldRelease struct {
	minor int
	gates map[string]bool
}

func (r oldRelease) Minor() int                   { return r.minor }
func (r oldRelease) Has(b behavior.Behavior) bool { return b.In(r.minor) }
func (r oldRelease) Enabled(gate string) bool     { return r.gates[gate] }
func (r oldRelease) Privileged() bool             { return r.minor != 32 }

func TestErrorsOfReleases(t *testing.T) {
	path := NewPath("spec", "x")
	errs := func() List {
		return List{
			Required(path, "new").Since(behavior.PlainDetails),
			Required(path, "old").Until(behavior.PlainDetails),
			Required(path, "").Before(behavior.PlainDetails, Detail("x is required")),
			Required(path, "").Before(behavior.PlainDetails, Field("spec.y")),
			Required(path, "gate on").WithGate("G", Required(path, "gate off")),
			Required(path, "no gate").WithoutGate("G"),
			Required(path, "unprivileged").WithoutPrivileged(),
		}
	}
	for _, tt := range []struct {
		name string
		in   Release
		want string
	}{
		{"newest", nil, "[spec.x: Required value: new, spec.x: Required value, spec.x: Required value: gate on]"},
		{"before", oldRelease{minor: 33}, "[spec.x: Required value: old, spec.x: Required value: x is required, spec.y: Required value, spec.x: Required value: gate off, spec.x: Required value: no gate]"},
		{"unprivileged", oldRelease{32, map[string]bool{"G": true}}, "[spec.x: Required value: old, spec.x: Required value: x is required, spec.y: Required value, spec.x: Required value: gate on, spec.x: Required value: unprivileged]"},
		{"from", oldRelease{34, map[string]bool{"G": true}}, "[spec.x: Required value: new, spec.x: Required value, spec.x: Required value: gate on]"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, errs().In(tt.in, "", "Pod").Message()) })
	}
}

// A gate of a whole list removes an error that another gate would replace.
func TestGateOfList(t *testing.T) {
	path := NewPath("spec", "x")
	errs := func() List {
		return List{Required(path, "inner on").WithGate("Inner", Required(path, "inner off"))}.WithGate("Outer")
	}
	assert.Empty(t, errs().In(oldRelease{minor: 36}, "", "Pod"))
	assert.Equal(t, "spec.x: Required value: inner off", errs().In(oldRelease{36, map[string]bool{"Outer": true}}, "", "Pod").Message())
}

// The errors of one release do not replace those of another.
func TestUnless(t *testing.T) {
	path := NewPath("spec", "x")
	errs := List{Required(path, "")}.Unless(List{Required(path, "").WithoutGate("G"), Required(path, "").WithoutPrivileged()})
	for _, tt := range []struct {
		name string
		in   Release
		want string
	}{
		{"newest", nil, "spec.x: Required value"},
		{"gate on", oldRelease{33, map[string]bool{"G": true}}, "spec.x: Required value"},
		{"gate off", oldRelease{minor: 33}, ""},
		{"unprivileged", oldRelease{32, map[string]bool{"G": true}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, errs.In(tt.in, "", "Pod").Message()) })
	}
	assert.Equal(t, "spec.x: Required value", List{Required(path, "")}.Unless(nil).In(nil, "", "Pod").Message())
}

// Releases from 1.37 on report equal errors once.
func TestEqualErrors(t *testing.T) {
	path := NewPath("metadata", "uid")
	errs := List{Invalid(path, "a", "field is immutable"), Required(path, ""), Invalid(path, "a", "field is immutable"), Invalid(path, "b", "field is immutable")}
	assert.Len(t, errs.In(oldRelease{minor: 36}, "", "Pod"), 4)
	assert.Len(t, errs.In(oldRelease{minor: 37}, "", "Pod"), 3)
}

// Each release prints objects with the fields of its own Go types.
func TestTypesOfReleases(t *testing.T) {
	path := NewPath("spec")
	errs := func() List {
		return List{
			Invalid(path, AsGoType("core.GRPCAction", map[string]any{"port": int64(1)}), "bad"),
			Forbidden(path, "changed\n").WithDiff("core.GRPCAction", map[string]any{"port": int64(1)}, map[string]any{"port": int64(2)}),
		}
	}
	assert.Equal(t, `[spec: Invalid value: {"Port":1,"Service":null}: bad, spec: Forbidden: changed
@@ -1,4 +1,4 @@
 {
- "Port": 1,
+ "Port": 2,
  "Service": null
 }
]`, errs().In(oldRelease{minor: 36}, "", "Pod").Message())
	assert.Contains(t, errs().In(oldRelease{minor: 37}, "", "Pod").Message(), `{"Port":1,"Service":null,"Mode":null}: bad`)
}

func TestGoSyntaxOfReleases(t *testing.T) {
	old := oldRelease{minor: 33}
	for _, tt := range []struct {
		name, group, kind, path string
		value                   any
		want                    string
	}{
		{"text", "", "Pod", "spec.x", "a", `"a"`},
		{"nil", "", "Pod", "spec.x", nil, `"null"`},
		{"named string for a struct", "", "Pod", "spec", NamedString("Burstable"), `"Burstable"`},
		{"map", "apps", "Deployment", "spec.template.metadata.labels", map[string]any{"b": "c", "a": "d"}, `map[string]string{"a":"d", "b":"c"}`},
		{"nil map", "apps", "Deployment", "spec.template.metadata.labels", nil, `map[string]string(nil)`},
		{"named strings", "networking.k8s.io", "NetworkPolicy", "spec.policyTypes", []any{"Ingress"}, `[]networking.PolicyType{"Ingress"}`},
		{"struct", "apps", "Deployment", "spec.selector", AsGoType("*metav1.LabelSelector", map[string]any{"matchLabels": map[string]any{"a": "b"}}),
			`v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}`},
		{"pointers", "apps", "Deployment", "spec.strategy", AsGoType("apps.DeploymentStrategy", map[string]any{"type": "X", "rollingUpdate": map[string]any{}}),
			`apps.DeploymentStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDeployment)(0xc000000000)}`},
		{"quantity", "", "LimitRange", "spec.limits[0].max[cpu]", AsGoType("q", "1500m"),
			`resource.Quantity{i:resource.int64Amount{value:1500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1500m", Format:"DecimalSI"}`},
		{"bytes", "certificates.k8s.io", "CertificateSigningRequest", "spec.request", AsGoType("[]byte", "AP8="), `[]byte{0x0, 0xff}`},
		{"no bytes", "certificates.k8s.io", "CertificateSigningRequest", "spec.request", AsGoType("[]byte", nil), `[]byte(nil)`},
		{"raw extension", "apps", "ControllerRevision", "data", AsGoType("runtime.RawExtension=a", object.RawJSON("{}")), `runtime.RawExtension{Raw:[]uint8{0x7b, 0x7d}, Object:runtime.Object(nil)}`},
		{"no raw extension", "apps", "ControllerRevision", "data", AsGoType("runtime.RawExtension=a", nil), `runtime.RawExtension{Raw:[]uint8(nil), Object:runtime.Object(nil)}`},
		{"field of the versioned object itself", "admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", "spec.matchResources.resourceRules[0].operations", []any{"*"},
			`[]admissionregistration.OperationType{"*"}`},
		{"resource name", "", "ResourceQuota", "spec.hard[things]", NamedString("things"), `things`},
		{"percentage", "apps", "Deployment", "spec.strategy.rollingUpdate.maxSurge", NamedString("101%"), `intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}`},
		{"empty percentage", "policy", "PodDisruptionBudget", "spec.minAvailable", NamedString(""), `intstr.IntOrString{Type:1, IntVal:0, StrVal:""}`},
		{"untyped", "example.com", "Foo", "spec.x", map[string]any{"a": int64(1)}, `map[string]interface {}{"a":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			errs := List{{Reason: ReasonInvalid, Field: tt.path, BadValue: tt.value, Detail: "d"}}
			assert.Equal(t, tt.path+": Invalid value: "+tt.want+": d", errs.In(old, tt.group, tt.kind).Message())
			assert.Equal(t, errs.Message(), errs.In(oldRelease{minor: 34}, tt.group, tt.kind).Message())
			twice := errs.In(old, tt.group, tt.kind).In(old, tt.group, tt.kind)
			assert.Equal(t, tt.path+": Invalid value: "+tt.want+": d", twice.Message())
		})
	}
}

func TestReword(t *testing.T) {
	for _, tt := range []struct {
		minor     int
		now, want string
	}{
		{34, "must be no more than 63 bytes", "must be no more than 63 characters"},
		{34, "name part must be no more than 63 bytes", "name part must be no more than 63 characters"},
		{35, "must be no more than 63 bytes", "must be no more than 63 bytes"},
		{33, "may not be more than 1 byte", "may not be more than 1 bytes"},
		{33, "may not be more than 10 bytes", "may not be more than 10 bytes"},
	} {
		assert.Equal(t, tt.want, Reword(oldRelease{minor: tt.minor}, tt.now), tt.now)
	}
}

func TestWarnings(t *testing.T) {
	texts := []string{"a", `unrecognized format "x"`, "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"}
	assert.Equal(t, texts, Warnings(oldRelease{minor: 36}, texts))
	assert.Equal(t, []string{"a", "spec.volumes[0].gitRepo: deprecated in v1.11"}, Warnings(oldRelease{minor: 32}, texts))

	since33 := []string{
		`spec.containers[1].ports[0]: duplicate port name "a" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]`,
		"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]: a b is invalid, a valid label must be an empty string",
		"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
	}
	assert.Equal(t, since33, Warnings(oldRelease{minor: 33}, since33))
	assert.Empty(t, Warnings(oldRelease{minor: 32}, since33))
}

// TestQuantities checks that v1.33 prints quantities as a client sent them.
func TestQuantities(t *testing.T) {
	list := List{
		NotSupported(NewPath("spec", "capacity"), AsGoType("{}q", map[string]any{"a": "1", "storage": "5G"}), []string{"storage"}),
		NotSupported(NewPath("spec", "capacity"), AsGoType("{}q", nil), []string{"storage"}),
	}
	sent := map[string]string{"spec.capacity[a]": "1", "spec.capacity[storage]": "5000M"}
	out := list.In(oldRelease{minor: 33}, "", "PersistentVolume").Quantities(func(field, _ string) string { return sent[field] })
	assert.Equal(t, `Unsupported value: core.ResourceList{"a":resource.Quantity{i:resource.int64Amount{value:1, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1", Format:"DecimalSI"}, `+
		`"storage":resource.Quantity{i:resource.int64Amount{value:5000, scale:6}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"", Format:"DecimalSI"}}: supported values: "storage"`, out[0].Body())
	assert.Equal(t, `Unsupported value: core.ResourceList(nil): supported values: "storage"`, out[1].Body())
	assert.Len(t, out, 2)
}

func TestAmong(t *testing.T) {
	a, b := NewPath("a"), NewPath("b")
	found := List{Required(a, "first"), Forbidden(a, "x"), Required(b, "")}
	assert.Equal(t, List{found[0], found[2]}, found.Among(List{Required(b, ""), Required(a, "other")}))
	assert.Empty(t, found.Among(nil))
}
