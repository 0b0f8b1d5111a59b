// Package scheme knows the Go types of the built-in kinds.
package scheme

import (
	"path"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// New returns a scheme with every kind that a kube-apiserver decodes: those that it serves,
// alpha and beta versions included, those of versions that it no longer serves, and those
// that it sends to webhooks.
func New() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range groupVersions {
		utilruntime.Must(add(scheme))
	}
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	return scheme
}

// StoredAsProtobuf reports whether kube-apiserver stores a kind as protobuf. It
// stores CustomResourceDefinitions and APIServices as JSON, and does not store
// reviews and the kinds of subresources.
func StoredAsProtobuf(t reflect.Type) bool {
	meta, ok := t.FieldByName("ObjectMeta")
	if !ok || meta.Type != reflect.TypeFor[metav1.ObjectMeta]() || !reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ Marshal() ([]byte, error) }]()) {
		return false
	}
	switch group := strings.TrimPrefix(path.Dir(t.PkgPath()), "k8s.io/api/"); group {
	case "admission", "apidiscovery", "authentication", "authorization":
		return false
	default:
		if !strings.HasPrefix(t.PkgPath(), "k8s.io/api/") {
			return false
		}
	}
	switch t.Name() {
	case "Binding", "Eviction", "Scale", "PodStatusResult", "RangeAllocation":
		return false
	}
	return true
}
