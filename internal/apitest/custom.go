//go:build go1.24

package apitest

import "fmt"

// Paths of CustomResourceDefinitions and of widgets, and the JSON of a widget whose member extra
// no schema of Widgets has.
const (
	DefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	WidgetsPath     = "/apis/example.com/v1/namespaces/default/widgets"
	Widget          = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1,"extra":true}}`
)

// Widgets returns a CustomResourceDefinition of widgets with one version, whose spec
// has the given properties.
func Widgets(version, properties string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget","shortNames":["wd"]},
		"versions":[{"name":%q,"served":true,"storage":true,"subresources":{"status":{}},
			"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{%s}},"status":{"type":"object"}}}}}]}}`, version, properties)
}

// ScaledDefinition is a CustomResourceDefinition of foos with the subresource scale.
const ScaledDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.ex.io"},"spec":{"group":"ex.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true,
	"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}}`
