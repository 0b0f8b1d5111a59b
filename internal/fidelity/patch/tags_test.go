package patch_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/schema"
)

// TestTags compares the patch strategies in OpenAPI documents with the tags of
// the Go types, which kube-apiserver uses.
func TestTags(t *testing.T) {
	p, err := release.Open("v1.37.2-all")
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, appsv1.AddToScheme, autoscalingv1.AddToScheme,
		autoscalingv2.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme,
		coordinationv1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme,
		flowcontrolv1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme, policyv1.AddToScheme,
		rbacv1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme,
		apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme,
	} {
		require.NoError(t, add(scheme))
	}
	c := comparison{t: t, seen: map[reflect.Type]bool{}}
	for gvk, goType := range scheme.AllKnownTypes() {
		if s, ok := schema.ForKind(p, gvk.Group, gvk.Version, gvk.Kind); ok {
			c.compare(goType, s)
		}
	}
	assert.Greater(t, len(c.seen), 500)
}

type comparison struct {
	t    *testing.T
	seen map[reflect.Type]bool
}

// compare compares a Go type and the types it contains with a schema.
func (c *comparison) compare(t reflect.Type, s *schema.Schema) {
	switch t.Kind() {
	case reflect.Pointer:
		c.compare(t.Elem(), s)
		return
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 && assert.NotNil(c.t, s.Items, t) {
			c.compare(t.Elem(), s.Items)
		}
		return
	case reflect.Map:
		if assert.NotNil(c.t, s.Additional, t) {
			c.compare(t.Elem(), s.Additional)
		}
		return
	case reflect.Struct:
	default:
		return
	}
	if c.seen[t] || len(s.Properties) == 0 {
		return
	}
	c.seen[t] = true
	assert.Equal(c.t, t.Name(), s.Name[strings.LastIndexByte(s.Name, '.')+1:])
	c.fields(t, s)
}

func (c *comparison) fields(t reflect.Type, s *schema.Schema) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			c.fields(f.Type, s)
			continue
		}
		property, ok := s.Properties[name]
		if !assert.True(c.t, ok, "%v %s", t, name) {
			continue
		}
		assert.Equal(c.t, f.Tag.Get("patchStrategy"), strings.Join(property.PatchStrategies, ","), "%v %s", t, name)
		assert.Equal(c.t, f.Tag.Get("patchMergeKey"), property.PatchMergeKey, "%v %s", t, name)
		c.compare(f.Type, property)
	}
}
