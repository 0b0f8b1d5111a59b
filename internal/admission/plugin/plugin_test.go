package plugin_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/admission/plugin/namespacelifecycle"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/status"
)

func TestOrder(t *testing.T) {
	names := plugin.Names(36)
	last := -1
	for _, p := range plugin.All() {
		i := slices.Index(names, p.Name())
		assert.Greater(t, i, last, "%s is in order", p.Name())
		last = i
	}
}

func TestSelection(t *testing.T) {
	c, err := plugin.Selection{Enable: []string{"AlwaysDeny"}, Disable: []string{"Priority"}}.Chain(open(t, "1.36"), nil)
	require.NoError(t, err)
	for name, want := range map[string]bool{"AlwaysDeny": true, "Priority": false, "LimitRanger": true, "AlwaysPullImages": false} {
		assert.Equal(t, want, c.Enabled(name), name)
	}
	_, err = plugin.Selection{Enable: []string{"PodTopologyLabels"}}.Chain(open(t, "1.32"), nil)
	assert.EqualError(t, err, `enable-admission-plugins plugin "PodTopologyLabels" is unknown`)
	_, err = plugin.Selection{Enable: []string{"JobValidation"}}.Chain(open(t, "1.37"), nil)
	assert.EqualError(t, err, `enable-admission-plugins plugin "JobValidation" is unknown`)
	_, err = plugin.Selection{Enable: []string{"B", "Priority"}, Disable: []string{"C", "Priority"}}.Chain(open(t, "1.36"), nil)
	assert.EqualError(t, err, `[enable-admission-plugins plugin "B" is unknown, disable-admission-plugins plugin "C" is unknown, [Priority] in enable-admission-plugins and disable-admission-plugins overlapped]`)
}

func open(t *testing.T, name string) *release.Release {
	r, err := release.Open(name)
	require.NoError(t, err)
	return r
}

// A plugin of all resources runs in its place among the plugins of a resource, and
// alone for the other resources.
func TestPluginOfAllResources(t *testing.T) {
	c := plugin.New(func(name string) bool { return name == "Priority" || name == "AlwaysDeny" })
	for resource, object := range map[string]string{"pods": pod, "configmaps": `{"metadata":{"name":"p","namespace":"n"}}`} {
		a := (&admissiontest.Request{Resource: resource, Object: object}).Attributes(t)
		denied := resource + ` "p" is forbidden: admission control is denying all modifications`
		assert.EqualError(t, c.Mutate(a), denied)
		assert.EqualError(t, c.Validate(a), denied)
		a.Operation = admission.Delete
		assert.True(t, c.HandlesOperation(a.Operation))
		assert.EqualError(t, c.CheckOperation(a), denied)
	}
	assert.False(t, plugin.Default(36).HandlesOperation(admission.Delete))
}

const pod = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}]}}`

func TestMutateInOrder(t *testing.T) {
	a := (&admissiontest.Request{Resource: "pods", Object: pod}).Attributes(t)
	assert.NoError(t, plugin.Default(36).Mutate(a))
	priority, _ := object.Int(a.Object, "spec", "priority")
	assert.Zero(t, priority)
	assert.Len(t, object.List(a.Object, "spec", "tolerations"), 2)
	assert.NoError(t, plugin.Default(36).Validate(a))
}

func TestRefusal(t *testing.T) {
	request := admissiontest.Request{Resource: "pods", Object: `{"metadata":{"generateName":"p-","namespace":"n"},"spec":{"priorityClassName":"none"}}`}
	assert.EqualError(t, plugin.Default(36).Mutate(request.Attributes(t)), `pods "p-" is forbidden: no PriorityClass with name none was found`)
}

func TestDisabledPlugins(t *testing.T) {
	none := plugin.New(func(string) bool { return false })
	a := (&admissiontest.Request{Resource: "pods", Object: pod}).Attributes(t)
	before := object.Copy(a.Object)
	assert.False(t, none.Handles(a.Type))
	assert.NoError(t, none.Mutate(a))
	assert.Equal(t, before, a.Object)
	assert.False(t, none.HandlesQuota(a))
	assert.NoError(t, none.CheckNamespace(namespacelifecycle.Write{Namespace: "n"}))
	assert.NoError(t, none.CheckDelete(status.GroupResource{Resource: "namespaces"}, "default"))

	one := plugin.New(func(name string) bool { return name == "Priority" })
	assert.True(t, one.Handles(a.Type))
	assert.NoError(t, one.Mutate(a))
	assert.Empty(t, object.List(a.Object, "spec", "tolerations"))
}

// A write of a resource that no plugin handles costs nothing.
func TestAllocations(t *testing.T) {
	chain := plugin.Default(36)
	a := (&admissiontest.Request{Resource: "configmaps", Object: `{"metadata":{"name":"c","namespace":"n"}}`}).Attributes(t)
	assert.False(t, chain.Handles(a.Type))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if chain.Handles(a.Type) || chain.Mutate(a) != nil || chain.Validate(a) != nil || !chain.HandlesQuota(a) {
			panic("a ConfigMap is not handled")
		}
		w := namespacelifecycle.Write{Resource: a.GroupResource(), Namespace: "n", Name: "c", Creates: true, Exists: true}
		if chain.CheckNamespace(w) != nil || chain.CheckDelete(a.GroupResource(), "c") != nil {
			panic("refused")
		}
	}))
}
