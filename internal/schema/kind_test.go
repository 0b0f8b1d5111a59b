package schema_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/schema"
)

// open opens the default release.
func open(t testing.TB) *release.Release {
	t.Helper()
	p, err := release.Open("")
	require.NoError(t, err)
	return p
}

// TestEveryKind parses all embedded documents, so ForKind does not panic.
func TestEveryKind(t *testing.T) {
	// These take options in the query and are no kinds of objects.
	options := []string{"NodeProxyOptions", "PodAttachOptions", "PodExecOptions", "PodPortForwardOptions", "PodProxyOptions", "ServiceProxyOptions"}
	for _, name := range release.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := release.Open(name)
			require.NoError(t, err)
			for _, typ := range p.Types() {
				s, ok := schema.ForKind(p, typ.Group, typ.Version, typ.Kind)
				if assert.True(t, ok, "%s %s", typ.GroupVersion, typ.Kind) {
					assert.Equal(t, "object", s.Type)
					assert.Contains(t, s.Name, "."+typ.Kind)
				}
				for _, sub := range typ.Subresources {
					k := sub.Kind
					_, ok := schema.ForKind(p, k.Group, k.Version, k.Kind)
					assert.Equal(t, !slices.Contains(options, k.Kind), ok, "%s %s/%s", typ.GroupVersion, typ.Name, sub.Name)
				}
			}
		})
	}
}

func TestForKind(t *testing.T) {
	p := open(t)
	pod, ok := schema.ForKind(p, "", "v1", "Pod")
	require.True(t, ok)
	spec := pod.Properties["spec"]

	t.Run("lists", func(t *testing.T) {
		containers := spec.Properties["containers"]
		assert.Equal(t, "array", containers.Type)
		assert.Equal(t, "map", containers.ListType)
		assert.Equal(t, []string{"name"}, containers.ListMapKeys)
		assert.Equal(t, "name", containers.PatchMergeKey)
		assert.Equal(t, []string{"merge"}, containers.PatchStrategies)
		assert.Equal(t, "io.k8s.api.core.v1.Container", containers.Items.Name)
		assert.Equal(t, []string{"merge", "retainKeys"}, spec.Properties["volumes"].PatchStrategies)
	})
	t.Run("maps", func(t *testing.T) {
		assert.Equal(t, "atomic", spec.Properties["nodeSelector"].MapType)
		assert.Equal(t, "string", spec.Properties["nodeSelector"].Additional.Type)
	})
	t.Run("keywords next to a reference", func(t *testing.T) {
		assert.Equal(t, "io.k8s.api.core.v1.PodSpec", spec.Name)
		assert.True(t, spec.HasDefault)
		assert.Equal(t, map[string]any{}, spec.Default)
		deployment, ok := schema.ForKind(p, "apps", "v1", "Deployment")
		require.True(t, ok)
		strategy := deployment.Properties["spec"].Properties["strategy"]
		assert.Equal(t, []string{"retainKeys"}, strategy.PatchStrategies)
		assert.Contains(t, strategy.Properties, "rollingUpdate")
	})
	t.Run("int-or-string", func(t *testing.T) {
		probe := spec.Properties["containers"].Items.Properties["livenessProbe"]
		assert.True(t, probe.Properties["httpGet"].Properties["port"].IntOrString)
	})
	t.Run("recursion", func(t *testing.T) {
		crd, ok := schema.ForKind(p, "apiextensions.k8s.io", "v1", "CustomResourceDefinition")
		require.True(t, ok)
		props := crd.Properties["spec"].Properties["versions"].Items.Properties["schema"].Properties["openAPIV3Schema"]
		require.NotNil(t, props)
		again := props.Properties["not"]
		assert.Same(t, again, again.Properties["not"])
	})
	t.Run("kind of a subresource", func(t *testing.T) {
		s, ok := schema.ForKind(p, "autoscaling", "v1", "Scale")
		require.True(t, ok)
		assert.Contains(t, s.Properties["spec"].Properties, "replicas")
	})
	t.Run("cached", func(t *testing.T) {
		again, ok := schema.ForKind(p, "", "v1", "Pod")
		require.True(t, ok)
		assert.Same(t, pod, again)
	})
	for _, row := range []struct{ group, version, kind string }{
		{"", "v1", "Deployment"}, {"", "v2", "Pod"}, {"apps", "v1", "Nope"}, {"example.com", "v1", "Foo"},
	} {
		t.Run("unknown/"+row.kind, func(t *testing.T) {
			_, ok := schema.ForKind(p, row.group, row.version, row.kind)
			assert.False(t, ok)
		})
	}
}

func ExampleForKind() {
	p, err := release.Open("1.36")
	if err != nil {
		panic(err)
	}
	service, _ := schema.ForKind(p, "", "v1", "Service")
	ports := service.Properties["spec"].Properties["ports"]
	fmt.Println(ports.Type, "of", ports.Items.Name)
	fmt.Println(ports.ListType, ports.ListMapKeys)
	fmt.Println(ports.PatchStrategies, ports.PatchMergeKey)
	// Output:
	// array of io.k8s.api.core.v1.ServicePort
	// map [port protocol]
	// [merge] port
}
