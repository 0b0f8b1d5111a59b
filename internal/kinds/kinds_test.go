//go:build go1.24

package kinds_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/data"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

// gatedTypes returns the types that no release serves without a feature gate.
func gatedTypes() []*resource.Type {
	typ := func(group, version, name, kind string) *resource.Type {
		return &resource.Type{GroupVersion: resource.GroupVersion{Group: group, Version: version}, Name: name, Kind: kind}
	}
	return kinds.Newest([]*resource.Type{
		typ("certificates.k8s.io", "v1beta1", "clustertrustbundles", "ClusterTrustBundle"),
		typ("certificates.k8s.io", "v1beta1", "podcertificaterequests", "PodCertificateRequest"),
		typ("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup"),
		typ("scheduling.k8s.io", "v1alpha2", "workloads", "Workload"),
		typ("storagemigration.k8s.io", "v1beta1", "storageversionmigrations", "StorageVersionMigration"),
	})
}

func TestEveryStrategyIsServed(t *testing.T) {
	served := map[string]bool{}
	for _, typ := range append(gatedTypes(), kindtest.AllTypes(t)...) {
		served[kindtest.GroupResource(typ)] = true
	}
	for _, name := range kinds.StrategyNames() {
		assert.True(t, served[name], "no release serves %s", name)
	}
}

func TestEveryKindDecodes(t *testing.T) {
	for _, name := range release.Names() {
		p, err := release.Open(name)
		require.NoError(t, err)
		for _, typ := range kinds.Types(p) {
			if typ.Virtual() {
				continue
			}
			obj, strict, err := typ.Codec.Decode([]byte(`{"metadata":{"name":"a"}}`), true)
			require.NoError(t, err, "%s: %s", name, typ.Kind)
			require.Empty(t, strict)
			require.Contains(t, string(typ.Codec.Append(nil, obj)), `"metadata":{"name":"a"`)
		}
	}
}

func TestStoragePrefixes(t *testing.T) {
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	places := map[string]*resource.Type{}
	for _, typ := range kinds.Types(p) {
		if typ.Virtual() {
			continue
		}
		if other := places[typ.Prefix]; other != nil {
			assert.Equal(t, other.Name, typ.Name, "two resources share a prefix")
			assert.Equal(t, other.Stored, typ.Stored, "one resource stored in two versions")
		}
		places[typ.Prefix] = typ
	}
	assert.Contains(t, places, "/pods/")
	assert.Contains(t, places, "/deployments.apps/")
}

func TestMinimalObjectsAreCanonical(t *testing.T) {
	for _, typ := range kindtest.AllTypes(t) {
		if typ.Strategy == nil || typ.Default == nil {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			obj := kindtest.Decode(t, typ, `{"metadata":{"name":"a"}}`)
			normal, _, err := typ.Codec.Normalize(obj, true)
			require.NoError(t, err)
			assert.Equal(t, normal, obj)
			created := object.Copy(obj)
			kindtest.Prepare(typ, created, nil)
			kindtest.Prepare(typ, object.Copy(obj), created)
		})
	}
}

// Validation and warnings accept objects without any fields and do not panic.
func TestValidateMinimalObjects(t *testing.T) {
	for _, typ := range kindtest.AllTypes(t) {
		if typ.Strategy == nil {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			obj := kindtest.Create(t, typ, `{"metadata":{"name":"a"}}`)
			for _, validate := range []func(ctx context.Context, obj, old map[string]any) validation.List{typ.ValidateAll, typ.SubresourceStrategies["status"].ValidateAll} {
				validate(t.Context(), obj, nil)
				validate(t.Context(), object.Copy(obj), obj)
			}
			for _, warn := range []func(obj, old map[string]any) []string{typ.WarningsOnWrite, typ.SubresourceStrategies["status"].WarningsOnWrite} {
				if warn != nil {
					warn(obj, nil)
					warn(object.Copy(obj), obj)
				}
			}
		})
	}
}

// Each kind with columns has a cell for each of them, for an object without fields
// too. The object of a bookmark has none.
func TestEveryColumnHasACell(t *testing.T) {
	var recorded struct{ Kinds map[string]any }
	require.NoError(t, json.Unmarshal([]byte(data.Columns()), &recorded))
	newest, err := release.Open("")
	require.NoError(t, err)
	check := func(group, kind string, layout *table.Layout) {
		if layout == nil {
			assert.Nil(t, newest.Columns(group, kind), "%s %s has columns but no cells", group, kind)
			return
		}
		columns := layout.Columns()
		cells := layout.Cells(table.Row{Obj: map[string]any{}})
		if kind == "IPAddress" {
			cells = cells[:2] // its age has no column
		}
		assert.Len(t, cells, len(columns), "%s %s", group, kind)
		for _, c := range columns {
			assert.NotContains(t, c.Description, "@name")
		}
		if group != "" {
			kind = group + "/" + kind
		}
		delete(recorded.Kinds, kind)
	}
	for _, typ := range append(gatedTypes(), kindtest.AllTypes(t)...) {
		check(typ.Group, typ.Kind, typ.Layout)
		if typ.Strategy != nil && typ.Scale != nil {
			check("autoscaling", "Scale", typ.Scale.Layout)
		}
	}
	assert.Empty(t, recorded.Kinds, "kinds with columns that no type has")
}

// Cells of the kinds that no release serves without a feature gate.
func TestGatedCells(t *testing.T) {
	for _, tc := range []struct {
		kind, object string
		want         []any
	}{
		{"StorageVersionMigration", `{spec: {resource: {group: apps, resource: deployments}}, status: {conditions: [{type: Succeeded, status: "True"}]}}`, []any{"a", "deployments.apps", "Succeeded"}},
		{"PodCertificateRequest", `{spec: {podName: p, serviceAccountName: s, nodeName: e, signerName: g}, status: {conditions: [{type: Issued}]}}`, []any{"a", "p", "s", "e", "g", "Issued", "<none>"}},
		{"PodGroup", `{spec: {schedulingPolicy: {gang: {}}}, status: {conditions: [{type: PodGroupScheduled, status: "True"}]}}`, []any{"a", "Gang", "<none>", "Scheduled", "60m"}},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			for _, typ := range gatedTypes() {
				if typ.Kind == tc.kind {
					assert.Equal(t, tc.want, typ.Layout.Cells(kindtest.TableRow(t, tc.object)))
				}
			}
		})
	}
}
