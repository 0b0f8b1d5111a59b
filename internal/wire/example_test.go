package wire_test

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/wire"
)

func ExampleForKind() {
	deployment, ok := wire.ForKind("apps", "v1", "Deployment")
	fmt.Println(deployment.GoName(), ok)
	// Output: v1.Deployment true
}

func ExampleType_Decode() {
	role, _ := wire.ForKind("rbac.authorization.k8s.io", "v1", "Role")
	obj, fieldErrors, err := role.Decode([]byte(`{"metadata":{"name":"a","nmae":"b"},"rules":[]}`), wire.DecodeOptions{Strict: true})
	fmt.Println(obj, fieldErrors, err)

	_, _, err = role.Decode([]byte(`{"rules":"all"}`), wire.DecodeOptions{})
	fmt.Println(err)
	// Output:
	// map[metadata:map[name:a] rules:[]] [unknown field "metadata.nmae"] <nil>
	// json: cannot unmarshal string into Go struct field Role.rules of type []v1.PolicyRule
}

func ExampleType_Append() {
	deployment, _ := wire.ForKind("apps", "v1", "Deployment")
	fmt.Printf("%s\n", deployment.Append(nil, map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": "web"},
		"kind":     "Deployment",
	}))
	// Output: {"kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}
}

func ExampleType_Normalize() {
	quota, _ := wire.ForKind("", "v1", "ResourceQuota")
	obj, _, err := quota.Normalize(map[string]any{
		"spec": map[string]any{"hard": map[string]any{"cpu": 1.5}, "scopes": []any{}},
	}, wire.DecodeOptions{})
	fmt.Println(obj, err)
	// Output: map[metadata:map[] spec:map[hard:map[cpu:1500m] scopes:[]] status:map[]] <nil>
}

func ExampleIdentify() {
	apiVersion, kind, err := wire.Identify([]byte(`{"apiVersion":"apps/v1","kind":"Deployment"}`))
	fmt.Println(apiVersion, kind, err)
	// Output: apps/v1 Deployment <nil>
}

func ExampleType_Convert() {
	pod, _ := wire.ForKind("", "v1", "Pod")
	obj, fieldErrors, err := pod.Convert(map[string]any{
		"spec": map[string]any{"containers": []any{}, "priority": 5.0, "priorty": 5.0},
	}, wire.DecodeOptions{Strict: true})
	fmt.Println(obj, fieldErrors, err)

	_, _, err = pod.Convert(map[string]any{"spec": map[string]any{"priority": "high"}}, wire.DecodeOptions{})
	fmt.Println(err)
	// Output:
	// map[metadata:map[] spec:map[containers:[] priority:5] status:map[]] [unknown field "spec.priorty"] <nil>
	// unrecognized type: int32
}

func ExampleDecodeUntyped() {
	obj, fieldErrors, err := wire.DecodeUntyped([]byte(`{"data":{"a":"1","a":"2"}}`), wire.DecodeOptions{Strict: true})
	fmt.Println(obj, fieldErrors, err)
	// Output: map[data:map[a:2]] [duplicate field "data.a"] <nil>
}

func ExampleDecodeJSONPatch() {
	operations, fieldErrors, err := wire.DecodeJSONPatch([]byte(`[{"op":"remove","path":"/data","why":"old"}]`))
	fmt.Println(operations, fieldErrors, err)
	// Output: [map[op:remove path:/data]] [unknown field "[0].why"] <nil>
}
