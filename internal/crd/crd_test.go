//go:build go1.24

package crd_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/wire"
)

const now = "2026-01-02T03:04:05Z"

// widgets returns the definition of widgets in example.com. edits are values and their paths
// to set.
func widgets(t *testing.T, edits ...any) map[string]any {
	t.Helper()
	obj, _, err := wire.DecodeUntyped([]byte(`{"kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","conversion":{"strategy":"None"},
			"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"}}}}}]},
		"status":{"acceptedNames":{"plural":"","kind":""},"storedVersions":["v1"]}}`), wire.DecodeOptions{})
	require.NoError(t, err)
	for i := 0; i < len(edits); i += 2 {
		path := edits[i+1].([]string)
		if version, ok := object.List(obj, "spec", "versions")[0].(map[string]any); ok && path[0] == "version" {
			object.Set(version, edits[i], path[1:]...)
			continue
		}
		object.Set(obj, edits[i], path...)
	}
	return obj
}

func at(path ...string) []string { return path }

// reconcileAll calls Reconcile until the definition does not change.
func reconcileAll(t *testing.T, obj map[string]any, others ...map[string]any) (steps int, out map[string]any) {
	t.Helper()
	used := crd.NewNames()
	for _, other := range append(others, obj) {
		used = used.Replace(object.View{}, object.ViewOf(other))
	}
	for steps < 10 {
		next := crd.Reconcile(object.ViewOf(obj), used, now)
		if next == nil {
			return steps, obj
		}
		used = used.Replace(object.ViewOf(obj), object.ViewOf(next))
		obj, steps = next, steps+1
	}
	t.Fatal("the definition changes forever")
	return 0, nil
}

func conditions(obj map[string]any) (all []string) {
	for c := range object.Each(object.Value(obj, "status", "conditions")) {
		all = append(all, fmt.Sprintf("%v=%v %v: %v", c["type"], c["status"], c["reason"], c["message"]))
	}
	return all
}

func TestReconcile(t *testing.T) {
	_, other := reconcileAll(t, widgets(t))
	for _, tt := range []struct {
		name       string
		obj        map[string]any
		steps      int
		conditions []string
	}{
		{"accepted and established", widgets(t), 2, []string{
			"NamesAccepted=True NoConflicts: no conflicts found",
			"Established=True InitialNamesAccepted: the initial names have been accepted",
		}},
		{"approved", widgets(t, "example.k8s.io", at("spec", "group"), map[string]any{"api-approved.kubernetes.io": "https://example.com/1"}, at("metadata", "annotations")), 3, []string{
			"KubernetesAPIApprovalPolicyConformant=True ApprovedAnnotation: approved in https://example.com/1",
			"NamesAccepted=True NoConflicts: no conflicts found",
			"Established=True InitialNamesAccepted: the initial names have been accepted",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps, out := reconcileAll(t, tt.obj)
			assert.Equal(t, tt.steps, steps)
			assert.Equal(t, tt.conditions, conditions(out))
			assert.Equal(t, object.Value(out, "spec", "names"), object.Value(out, "status", "acceptedNames"))
		})
	}
	t.Run("names in use", func(t *testing.T) {
		obj := widgets(t, "gadgets", at("spec", "names", "plural"), []any{"widget"}, at("spec", "names", "shortNames"))
		_, out := reconcileAll(t, obj, other)
		assert.Equal(t, []string{
			`NamesAccepted=False ListKindConflict: "WidgetList" is already in use`,
			"Established=False NotAccepted: not all names are accepted",
		}, conditions(out), "the last conflict is reported")
		assert.Equal(t, "gadgets", object.String(out, "status", "acceptedNames", "plural"), "other names are accepted")
		assert.Empty(t, crd.New(object.ViewOf(out), nil, crd.Options{}).Types, "not served")
	})
}

func TestTerminate(t *testing.T) {
	_, obj := reconcileAll(t, widgets(t))
	object.Set(obj, now, "metadata", "deletionTimestamp")
	crd.Terminate(obj)
	assert.True(t, crd.IsTerminating(object.ViewOf(obj)))
	assert.Contains(t, conditions(obj), "Terminating=True InstanceDeletionPending: CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	_, obj = reconcileAll(t, obj)
	d := crd.New(object.ViewOf(obj), nil, crd.Options{})
	require.Len(t, d.Types, 1)
	assert.NotEmpty(t, d.Types[0].CreateForbidden)
	assert.False(t, d.Types[0].Allows("create"))
	done := crd.RemoveFinalizer(object.ViewOf(obj), now)
	assert.False(t, crd.IsTerminating(object.ViewOf(done)))
	assert.Contains(t, conditions(done), "Terminating=False InstanceDeletionCompleted: removed all instances")
	// While another finalizer keeps the definition, objects can be created again.
	again := crd.New(object.ViewOf(done), d, crd.Options{})
	require.Len(t, again.Types, 1)
	assert.Empty(t, again.Types[0].CreateForbidden)
	assert.True(t, again.Types[0].Allows("create"))
}

func TestTerminateNeverEstablished(t *testing.T) {
	obj := widgets(t)
	object.Set(obj, now, "metadata", "deletionTimestamp")
	assert.Contains(t, conditions(crd.RemoveFinalizer(object.ViewOf(obj), now)), "Terminating=False NeverEstablished: resource was never established")
}

func TestValidate(t *testing.T) {
	anySchema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}
	column := func(members map[string]any) []any { return []any{members} }
	for _, tt := range []struct {
		name  string
		value any
		path  []string
		want  string
	}{
		{"valid", "Widget", at("spec", "names", "kind"), ""},
		{"group without a dot", "example", at("spec", "group"), `[metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group, spec.group: Invalid value: "example": should be a domain with at least one dot]`},
		{"unknown scope", "Global", at("spec", "scope"), `spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"`},
		{"kind equals listKind", "WidgetList", at("spec", "names", "kind"), `spec.names.listKind: Invalid value: "WidgetList": kind and listKind may not be the same`},
		{"no storage version", false, at("version", "storage"), `spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version`},
		{"no schema", nil, at("version", "schema"), "spec.versions[0].schema.openAPIV3Schema: Required value"},
		{"invalid column", column(map[string]any{"jsonPath": "spec", "type": "text"}), at("version", "additionalPrinterColumns"), `[spec.additionalPrinterColumns[0].name: Required value, spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string, spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .]`},
		{"selectable field without schema", column(map[string]any{"jsonPath": ".weight"}), at("version", "selectableFields"), `spec.selectableFields[0].jsonPath: Invalid value: ".weight": is an invalid path: does not refer to a valid field`},
		{"scale paths", map[string]any{"scale": map[string]any{"specReplicasPath": ".status.n"}}, at("version", "subresources"), `[spec.subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec, spec.subresources.scale.statusReplicasPath: Required value]`},
		{"deprecation warning with a control character", "\a", at("version", "deprecationWarning"), `spec.versions[0].deprecationWarning: Invalid value: "\u0007": can only be set for deprecated versions`},
		{"deprecation warning of a version that is not deprecated", "old", at("version", "deprecationWarning"), `spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions`},
		{"duplicate version", []any{map[string]any{"name": "v1", "schema": anySchema}, map[string]any{"name": "v1", "storage": true, "schema": anySchema}}, at("spec", "versions"), `[spec.versions: Invalid value: [{"Name":"v1","Served":false,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":false,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names, status.storedVersions: Invalid value: ["v1"]: must have the storage version v1]`},
		{"conversion webhook without config", map[string]any{"strategy": "Webhook"}, at("spec", "conversion"), "[spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook, spec.conversion.conversionReviewVersions: Required value]"},
		{"missing stored version", []any{"v1", "v0"}, at("status", "storedVersions"), `status.storedVersions[1]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 and removes v0 from status.storedVersions`},
		{"preserveUnknownFields", true, at("spec", "preserveUnknownFields"), "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, crd.Rules{}.Validate(t.Context(), widgets(t, tt.value, tt.path), object.View{}).Message())
		})
	}
	t.Run("preserveUnknownFields with a default", func(t *testing.T) {
		obj := widgets(t, true, at("spec", "preserveUnknownFields"), int64(1), at("version", "schema", "openAPIV3Schema", "properties", "size", "default"))
		assert.Contains(t, crd.Rules{}.Validate(t.Context(), obj, object.View{}).Message(), `spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema`)
	})
	t.Run("preserveUnknownFields with a conversion webhook", func(t *testing.T) {
		obj := widgets(t, true, at("spec", "preserveUnknownFields"), "Webhook", at("spec", "conversion", "strategy"))
		assert.Contains(t, crd.Rules{}.Validate(t.Context(), obj, object.View{}).Message(), `spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true, spec.conversion.webhookClientConfig: Required value`)
	})
	t.Run("immutable", func(t *testing.T) {
		_, old := reconcileAll(t, widgets(t))
		obj := widgets(t, "Cluster", at("spec", "scope"), "Gadget", at("spec", "names", "kind"))
		assert.Equal(t, `[spec.scope: Invalid value: "Cluster": field is immutable, spec.names.kind: Invalid value: "Gadget": field is immutable]`, crd.Rules{}.Validate(t.Context(), obj, object.ViewOf(old)).Message())
		assert.Empty(t, crd.Rules{}.Validate(t.Context(), obj, object.ViewOf(widgets(t))), "not established")
	})
}

func TestDefinition(t *testing.T) {
	_, obj := reconcileAll(t, widgets(t, []any{map[string]any{"name": "Size", "type": "integer", "jsonPath": ".size"}}, at("version", "additionalPrinterColumns")))
	d := crd.New(object.ViewOf(obj), nil, crd.Options{})
	require.Len(t, d.Types, 1)
	typ := d.Types[0]
	assert.Same(t, d, crd.New(object.ViewOf(object.Copy(obj)), d, crd.Options{}), "shared if unchanged")

	in, fieldErrors, err := typ.Codec.Decode([]byte(`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w","uid":"u"},"size":3,"colour":"red","size":4}`), true)
	require.NoError(t, err)
	assert.Len(t, fieldErrors, 2, "%v", fieldErrors)
	assert.JSONEq(t, `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w","uid":"u"},"size":4}`, string(typ.Codec.Append(nil, in)))
	assert.Equal(t, []any{"w", int64(4)}, typ.Layout.Cells(table.Row{Obj: in, Now: fixed}))
	assert.Contains(t, typ.ValidateAll(t.Context(), map[string]any{"kind": "Widget", "apiVersion": "example.com/v1", "size": "big"}, object.View{}, nil).Message(), "size: Invalid value")
}

func TestDeprecationWarnings(t *testing.T) {
	version := func(name string, deprecated bool) any {
		return map[string]any{"name": name, "served": true, "storage": name == "v1", "deprecated": deprecated, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
	}
	_, obj := reconcileAll(t, widgets(t, []any{version("v1", true), version("v2", false), version("v1beta1", true)}, at("spec", "versions")))
	var names []string
	warnings := map[string][]string{}
	for _, typ := range crd.New(object.ViewOf(obj), nil, crd.Options{}).Types {
		names = append(names, typ.GroupVersion.Version)
		warnings[typ.GroupVersion.Version] = typ.Warnings
	}
	assert.Equal(t, []string{"v2", "v1", "v1beta1"}, names, "preferred version first")
	assert.Equal(t, map[string][]string{
		"v2": nil, "v1": {"example.com/v1 Widget is deprecated; use example.com/v2 Widget"}, "v1beta1": {"example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget"},
	}, warnings)
}

func TestUnservedStored(t *testing.T) {
	version := func(name string, storage, served bool) any {
		return map[string]any{"name": name, "served": served, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
	}
	for _, c := range []struct {
		name   string
		served bool
	}{
		{"served", true},
		{"not served", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, obj := reconcileAll(t, widgets(t, []any{version("v2", false, true), version("v1", true, c.served)}, at("spec", "versions")))
			for _, typ := range crd.New(object.ViewOf(obj), nil, crd.Options{}).Types {
				assert.Equal(t, "v1", typ.Stored.Version)
				assert.Equal(t, !c.served, typ.UnservedStored)
			}
		})
	}
}

// FuzzDefinition checks that no definition makes a function panic, and that the
// functions do not change it.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte(`{"spec":{"group":"g.io","names":{"plural":"x"},"versions":[{"name":"v1","subresources":{"scale":{}},"selectableFields":[{}],"additionalPrinterColumns":[{"jsonPath":"x"}]}]}}`))
	f.Add([]byte(`{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{}}}},"versions":[null,{}]},"status":{"acceptedNames":{"plural":"a","singular":"b","kind":"c","listKind":"d"},"conditions":[{"type":"Established","status":"True"}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		obj, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
		if err != nil {
			return
		}
		definition, ok := wire.ForKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
		require.True(t, ok)
		if obj, _, err = definition.Normalize(obj, wire.DecodeOptions{}); err != nil {
			return
		}
		kept := object.Copy(obj)
		crd.Rules{}.Validate(t.Context(), obj, object.View{})
		crd.Rules{}.Validate(t.Context(), obj, object.ViewOf(obj))
		require.Equal(t, kept, obj, "Validate")
		crd.Reconcile(object.ViewOf(obj), crd.NewNames().Replace(object.View{}, object.ViewOf(obj)), now)
		require.Equal(t, kept, obj, "Reconcile")
		crd.New(object.ViewOf(obj), nil, crd.Options{})
		require.Equal(t, kept, obj, "New")
	})
}

var fixed = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestDocument(t *testing.T) {
	_, obj := reconcileAll(t, widgets(t,
		"gear.example.k8s.io", at("spec", "group"), map[string]any{"api-approved.kubernetes.io": "https://example.com/1"}, at("metadata", "annotations"),
		[]any{map[string]any{"jsonPath": ".size"}}, at("version", "selectableFields"), true, at("version", "schema", "openAPIV3Schema", "properties", "size", "nullable")))
	types := crd.New(object.ViewOf(obj), nil, crd.Options{}).Types
	p, err := release.Open("v1.36.3")
	require.NoError(t, err)
	text, err := crd.Document(p, types)
	require.NoError(t, err)
	doc, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
	require.NoError(t, err)

	const name = "io.k8s.example.gear.v1.Widget"
	kind := func(kind string) []any {
		return []any{map[string]any{"group": "gear.example.k8s.io", "version": "v1", "kind": kind}}
	}
	widget, list := object.Map(doc, "components", "schemas", name), object.Map(doc, "components", "schemas", name+"List")
	assert.Equal(t, kind("Widget"), widget["x-kubernetes-group-version-kind"])
	assert.Equal(t, []any{map[string]any{"fieldPath": "size"}}, widget["x-kubernetes-selectable-fields"])
	assert.Equal(t, kind("WidgetList"), list["x-kubernetes-group-version-kind"])
	assert.Equal(t, "WidgetList is a list of Widget", list["description"])

	read := object.Map(doc, "paths", "/apis/gear.example.k8s.io/v1/namespaces/{namespace}/widgets/{name}", "get")
	assert.Equal(t, "readGearExampleV1NamespacedWidget", read["operationId"])
	assert.Equal(t, []any{"gearExample_v1"}, read["tags"])

	v2 := crd.V2Overrides(p, types)
	size := object.Map(v2.Definitions, name, "properties", "size")
	assert.Equal(t, map[string]any{}, size, "v2 cannot express nullable")
	assert.Equal(t, []any{map[string]any{"fieldPath": "size"}}, object.Value(v2.Definitions, name, "x-kubernetes-selectable-fields"))
}

func TestPrepareStatus(t *testing.T) {
	for _, tt := range []struct {
		name           string
		nullable       bool
		old, obj, want map[string]any
	}{
		{"status set", false, map[string]any{}, map[string]any{"status": map[string]any{"a": "x"}, "size": int64(1)}, map[string]any{"status": map[string]any{"a": "x"}}},
		{"status removed", false, map[string]any{"status": map[string]any{}, "size": int64(1)}, map[string]any{}, map[string]any{"size": int64(1)}},
		{"null, not nullable, not set before", false, map[string]any{}, map[string]any{"status": nil}, map[string]any{}},
		{"null, nullable", true, map[string]any{}, map[string]any{"status": nil}, map[string]any{"status": nil}},
		{"null, not nullable, set before", false, map[string]any{"status": map[string]any{}}, map[string]any{"status": nil}, map[string]any{"status": nil}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, definition := reconcileAll(t, widgets(t, map[string]any{"status": map[string]any{}}, at("version", "subresources"),
				map[string]any{"type": "object", "nullable": tt.nullable}, at("version", "schema", "openAPIV3Schema", "properties", "status")))
			crd.New(object.ViewOf(definition), nil, crd.Options{}).Types[0].SubresourceStrategies["status"].Prepare(tt.obj, object.ViewOf(tt.old))
			delete(tt.obj, "metadata")
			assert.Equal(t, tt.want, tt.obj)
		})
	}
}
