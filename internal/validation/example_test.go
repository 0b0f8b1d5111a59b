package validation_test

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func Example() {
	spec := validation.NewPath("spec")
	replicas, port := int64(-1), "HTTP"

	list := validation.NonNegative(replicas, spec.Child("replicas"))
	list = append(list, validation.Each(spec.Child("ports").Index(0).Child("name"), port, validation.PortName(port))...)

	for _, e := range list {
		fmt.Printf("%s at %s: %s\n", e.Reason, e.Field, e.Body())
	}
	// Output:
	// FieldValueInvalid at spec.replicas: Invalid value: -1: must be greater than or equal to 0
	// FieldValueInvalid at spec.ports[0].name: Invalid value: "HTTP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)
	// FieldValueInvalid at spec.ports[0].name: Invalid value: "HTTP": must contain at least one letter (a-z)
}

func ExampleObjectMeta() {
	meta := map[string]any{"name": "a.b", "finalizers": []any{"orphan", "foregroundDeletion"}}
	list := validation.ObjectMeta(meta, true, validation.LabelName, validation.NewPath("metadata"))
	for _, e := range list {
		fmt.Println(e)
	}
	// Output:
	// metadata.name: Invalid value: "a.b": must not contain dots
	// metadata.namespace: Required value
	// metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set
}

// The common checks of an update and those of the kind report the same error.
// It has two causes; the message contains it once.
func ExampleObjectMetaUpdate() {
	path := validation.NewPath("metadata")
	oldMeta := map[string]any{"name": "a", "resourceVersion": "1", "uid": "u"}
	newMeta := map[string]any{"name": "a", "resourceVersion": "1", "uid": "v"}

	common := validation.ObjectMeta(newMeta, false, validation.PathSegmentName, path)
	common = append(common, validation.ObjectMetaUpdate(newMeta, object.ViewOf(oldMeta), path)...)
	list := append(common, validation.ObjectMetaUpdate(newMeta, object.ViewOf(oldMeta), path)...)

	fmt.Println(len(list), list.Message())
	// Output: 2 metadata.uid: Invalid value: "v": field is immutable
}

func ExampleListOptions_Validate() {
	o := validation.ListOptions{ResourceVersion: "0", ResourceVersionMatch: "Exact"}
	fmt.Println(o.Validate().Message())
	// Output: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"
}

func ExampleImmutableField() {
	list := validation.ImmutableField("b", "a", validation.NewPath("spec", "nodeName"))
	fmt.Println(list.Message())
	// Output: spec.nodeName: Invalid value: "b": field is immutable
}

func ExampleQualifiedName() {
	fmt.Println(len(validation.QualifiedName("example.com/tier")))
	fmt.Println(validation.QualifiedName("/tier")[0])
	// Output:
	// 0
	// prefix part must be non-empty
}
