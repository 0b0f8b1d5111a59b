package plugin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/admission/plugin/namespacelifecycle"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// upstream is the order of kube-apiserver: AllOrderedPlugins in
// pkg/kubeapiserver/options/plugins.go.
var upstream = []string{
	"AlwaysAdmit", "NamespaceAutoProvision", "NamespaceLifecycle", "NamespaceExists", "LimitPodHardAntiAffinityTopology", "LimitRanger",
	"ServiceAccount", "NodeRestriction", "TaintNodesByCondition", "AlwaysPullImages", "ImagePolicyWebhook", "PodSecurity", "PodNodeSelector",
	"Priority", "DefaultTolerationSeconds", "PodTolerationRestriction", "EventRateLimit", "ExtendedResourceToleration", "DefaultStorageClass",
	"StorageObjectInUseProtection", "OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "RuntimeClass",
	"CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction", "DefaultIngressClass",
	"DenyServiceExternalIPs", "PodTopologyLabels", "NodeDeclaredFeatureValidator", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota", "AlwaysDeny",
}

func TestOrder(t *testing.T) {
	position := map[string]int{}
	for i, name := range upstream {
		position[name] = i
	}
	last := -1
	for _, p := range plugin.All() {
		i, ok := position[p.Name()]
		assert.True(t, ok, "%s is a plugin of kube-apiserver", p.Name())
		assert.Greater(t, i, last, "%s is in order", p.Name())
		last = i
	}
}

const pod = `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}]}}`

func TestMutateInOrder(t *testing.T) {
	a := (&admissiontest.Request{Resource: "pods", Object: pod}).Attributes(t)
	assert.NoError(t, plugin.Default().Mutate(a))
	priority, _ := object.Int(a.Object, "spec", "priority")
	assert.Zero(t, priority)
	assert.Len(t, object.List(a.Object, "spec", "tolerations"), 2)
	assert.NoError(t, plugin.Default().Validate(a))
}

func TestRefusal(t *testing.T) {
	request := admissiontest.Request{Resource: "pods", Object: `{"metadata":{"generateName":"p-","namespace":"n"},"spec":{"priorityClassName":"none"}}`}
	assert.EqualError(t, plugin.Default().Mutate(request.Attributes(t)), `pods "p-" is forbidden: no PriorityClass with name none was found`)
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
	chain := plugin.Default()
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
