package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

// everything is what the releases serve, all API versions included.
func everything(t *testing.T) []*resource.Type {
	var out []*resource.Type
	for _, name := range release.Names() {
		p, err := release.Open(name)
		require.NoError(t, err)
		out = append(out, Types(p.Types())...)
	}
	return out
}

func TestEveryRuleIsServed(t *testing.T) {
	served := map[string]bool{}
	for _, typ := range everything(t) {
		served[qualified(typ.Group, typ.Name)] = true
	}
	for name := range rules {
		assert.True(t, served[name], "no release serves %s", name)
	}
}

func TestEveryKindDecodes(t *testing.T) {
	for _, name := range release.Names() {
		p, err := release.Open(name)
		require.NoError(t, err)
		for _, typ := range Types(p.Types()) {
			if typ.Virtual() {
				continue
			}
			obj, strict, err := typ.Codec.Decode([]byte(`{"metadata":{"name":"a"}}`), true)
			require.NoError(t, err, "%s: %s", name, typ.Kind)
			require.Empty(t, strict)
			require.Contains(t, string(typ.Codec.Append(nil, obj)), `"metadata":{"name":"a"}`)
		}
	}
}

func TestPlacesInTheStore(t *testing.T) {
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	places := map[string]*resource.Type{}
	for _, typ := range Types(p.Types()) {
		if typ.Virtual() {
			continue
		}
		if other := places[typ.Prefix]; other != nil {
			assert.Equal(t, other.Name, typ.Name, "two resources in one place")
			assert.Equal(t, other.Stored, typ.Stored, "one resource stored in two versions")
		}
		places[typ.Prefix] = typ
	}
	assert.Contains(t, places, "/pods/")
	assert.Contains(t, places, "/deployments.apps/")
}

func TestFieldsAreReadWhereTheirLabelsSay(t *testing.T) {
	pod := map[string]any{
		"spec":   map[string]any{"nodeName": "n", "hostNetwork": true},
		"status": map[string]any{"phase": "Running", "podIPs": []any{map[string]any{"ip": "10.0.0.1"}, map[string]any{"ip": "fd::1"}}},
	}
	want := map[string]string{
		"spec.nodeName": "n", "spec.host": "n", "spec.hostNetwork": "true",
		"status.phase": "Running", "status.podIP": "10.0.0.1", "status.podIPs": "10.0.0.1",
		"spec.restartPolicy": "",
	}
	got := map[string]string{}
	for _, f := range rules["pods"].Fields {
		got[f.Label] = f.Value(pod)
	}
	for label, value := range want {
		assert.Equal(t, value, got[label], label)
	}
	assert.Equal(t, "false", rules["nodes"].Fields[0].Value(map[string]any{}), "a node is schedulable unless it says otherwise")
}

func TestStatusRules(t *testing.T) {
	object := func(status, spec, label, annotation string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{
				"labels":      map[string]any{"l": label},
				"annotations": map[string]any{"a": annotation},
			},
			"spec": spec, "status": status,
		}
	}
	for _, row := range []struct {
		name              string
		rule              statusRule
		label, annotation string
	}{
		{"all metadata", statusAndMeta, "new", "new"},
		{"no metadata", statusOnly, "old", "old"},
		{"all but labels", statusNotLabels, "old", "new"},
		{"all but owners", statusNotOwners, "new", "new"},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj := object("new", "new", "new", "new")
			obj["extra"] = "new"
			row.rule.prepare(obj, object("old", "old", "old", "old"))
			assert.Equal(t, object("new", "old", row.label, row.annotation), obj)
		})
	}
}

func TestPodGrace(t *testing.T) {
	pod := func(node, phase string, own any) map[string]any {
		return map[string]any{
			"spec":   map[string]any{"nodeName": node, "terminationGracePeriodSeconds": own},
			"status": map[string]any{"phase": phase},
		}
	}
	five := int64(5)
	for _, row := range []struct {
		name      string
		pod       map[string]any
		requested *int64
		want      int64
	}{
		{"its own", pod("n", "Running", int64(60)), nil, 60},
		{"the default", pod("n", "Running", nil), nil, 30},
		{"asked for", pod("n", "Running", int64(60)), &five, 5},
		{"on no node", pod("", "Pending", int64(60)), &five, 0},
		{"ended", pod("n", "Succeeded", int64(60)), nil, 0},
		{"negative", pod("n", "Running", int64(-3)), nil, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, graceful := podGrace(row.pod, row.requested)
			assert.True(t, graceful)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestPrepareNamespace(t *testing.T) {
	ns := map[string]any{"metadata": map[string]any{"name": "a"}}
	labelNamespace(ns)
	prepareNamespace(ns, nil)
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"kubernetes.io/metadata.name": "a"}},
		"spec":     map[string]any{"finalizers": []any{"kubernetes"}},
		"status":   map[string]any{"phase": "Active"},
	}, ns)

	update := map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{}}
	prepareNamespace(update, ns)
	assert.Equal(t, ns["spec"], update["spec"], "finalizers change through finalize alone")
}
