//go:build go1.24

package kinds_test

import (
	"context"
	"encoding/json"
	"strings"
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

// gatedReleases returns the releases that have everything, with all feature gates on.
func gatedReleases(t *testing.T) (all []*release.Release) {
	for _, name := range release.Names() {
		if !strings.HasSuffix(name, "-all") {
			continue
		}
		r, err := release.Open(name)
		require.NoError(t, err)
		r, err = r.WithGates(map[string]bool{"AllAlpha": true, "AllBeta": true})
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

func TestEveryStrategyIsServed(t *testing.T) {
	served := map[string]bool{}
	for _, r := range gatedReleases(t) {
		for _, typ := range kinds.Types(r) {
			name := kindtest.GroupResource(typ)
			served[name], served[name+"/"+typ.Stored.Version] = true, true
		}
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
	p, err := release.Open(release.Newest + "-all")
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

// DefaultMetadata does what Default does to an object of which only metadata has changed.
func TestDefaultMetadata(t *testing.T) {
	tested := 0
	for _, typ := range kindtest.AllTypes(t) {
		if typ.Strategy == nil || typ.DefaultMetadata == nil {
			continue
		}
		tested++
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			body := `{"metadata":{"name":"a"},"spec":{` + kindtest.PodTemplate("Always") + `}}`
			switch typ.Kind {
			case "Pod":
				body = kindtest.Pod(`"resources":{"limits":{"cpu":"1"}}`, `"hostNetwork":true`)
			case "Node":
				body = `{"status":{"capacity":{"cpu":"1"}}}`
			}
			old := kindtest.Decode(t, typ, body)
			for _, metadata := range []map[string]any{
				{}, {"name": "b"}, {"labels": map[string]any{"a": "b"}, "annotations": map[string]any{"a": "b"}},
				{"annotations": map[string]any{"pod.beta.kubernetes.io/init-containers": "[]"}},
			} {
				changed := object.ShallowCopy(old)
				changed["metadata"] = metadata
				want := object.Copy(changed)
				typ.Default(want)
				typ.SetDefaults(changed, object.ViewOf(old))
				assert.Equal(t, want, changed)
			}
		})
	}
	assert.NotZero(t, tested)
}

// Validation and warnings accept objects without any fields and do not panic.
func TestValidateMinimalObjects(t *testing.T) {
	for _, typ := range kindtest.AllTypes(t) {
		if typ.Strategy == nil {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			obj := kindtest.Create(t, typ, `{"metadata":{"name":"a"}}`)
			for _, validate := range []func(ctx context.Context, obj map[string]any, old object.View, errs validation.List) validation.List{typ.ValidateAll, typ.SubresourceStrategies["status"].ValidateAll} {
				validate(t.Context(), obj, object.View{}, nil)
				validate(t.Context(), object.Copy(obj), object.ViewOf(obj), nil)
			}
			for _, warn := range []func(obj map[string]any, old object.View) []string{typ.WarningsOnWrite, typ.SubresourceStrategies["status"].WarningsOnWrite} {
				if warn != nil {
					warn(obj, object.View{})
					warn(object.Copy(obj), object.ViewOf(obj))
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
	check := func(r *release.Release, group, kind string, layout *table.Layout) {
		if layout == nil {
			assert.Nil(t, r.Columns(group, kind), "%s %s has columns but no cells", group, kind)
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
	for _, r := range gatedReleases(t) {
		for _, typ := range kinds.Types(r) {
			check(r, typ.Group, typ.Kind, typ.Layout)
			if typ.Strategy != nil && typ.Scale != nil {
				check(r, "autoscaling", "Scale", typ.Scale.Layout)
			}
		}
	}
	assert.Empty(t, recorded.Kinds, "kinds with columns that no type has")
}

// Cells of kinds that a release serves only with a feature gate.
func TestGatedCells(t *testing.T) {
	for _, tc := range []struct {
		kind, object string
		want         []any
	}{
		{"StorageVersionMigration", `{spec: {resource: {group: apps, resource: deployments}}, status: {conditions: [{type: Succeeded, status: "True"}]}}`, []any{"a", "deployments.apps", "Succeeded"}},
		{"PodCertificateRequest", `{spec: {podName: p, serviceAccountName: s, nodeName: e, signerName: g}, status: {conditions: [{type: Issued}]}}`, []any{"a", "p", "s", "e", "g", "Issued", "<none>"}},
		{"CompositePodGroup", `{spec: {schedulingPolicy: {basic: {}}, workloadRef: {workloadName: w}}}`, []any{"a", "Basic", "w", "60m"}},
		{"EvictionRequest", `{spec: {target: {pod: {name: p}}, requester: acme.io/a, intent: Eviction}, status: {observedGeneration: 1, conditions: [{type: Failed, status: "True", reason: Gone}]}}`,
			[]any{"a", "p", "Pod", "Failed (Gone)", "acme.io/a", "Eviction", "60m"}},
		{"Eviction", `{spec: {target: {pod: {name: p}}}, status: {requesters: [{name: b, intent: Eviction}, {name: a, intent: Eviction}, {name: c, intent: Withdrawn}],
			targetResponders: [{name: r, state: Completed}, {name: s, state: Inactive}], responders: [{name: r, message: " done "}]}}`,
			[]any{"a", "p", "Pod", "Pending", "r (1/2)", "Completed", "-", "a + 1 more...", "60m", "<unset>", "done"}},
		{"Eviction", `{}`, []any{"a", "<unset>", "<unset>", "Pending", "<unset> (0/0)", "<unset>", "<unknown>", "<none>", "60m", "<unset>", "<unset>"}},
		{"PodGroup", `{spec: {schedulingPolicy: {gang: {}}}, status: {conditions: [{type: PodGroupScheduled, status: "True"}, {type: PodGroupInitiallyScheduled, status: "True"}]}}`, []any{"a", "Gang", "<none>", "Scheduled", "60m"}},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			found := false
			for _, r := range gatedReleases(t) {
				for _, typ := range kinds.Types(r) {
					if typ.Kind == tc.kind {
						found = true
						assert.Equal(t, tc.want, typ.Layout.Cells(kindtest.TableRow(t, tc.object)), r.Name())
					}
				}
			}
			assert.True(t, found)
		})
	}
}
