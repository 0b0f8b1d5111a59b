package fieldmanager_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
)

var widgets = fieldmanager.New(fieldmanager.Kind{Group: "ex.com", Version: "v1", Kind: "Widget"})

func widget(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "ex.com/v1", "kind": "Widget", "spec": spec}
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ExampleType_Update() {
	obj := widgets.Update(object.View{}, widget(map[string]any{"size": int64(1)}), fieldmanager.Options{Manager: "creator", Now: noon})

	entry := obj["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
	fmt.Println(entry["manager"], entry["operation"], entry["fieldsV1"])
	// Output: creator Update {"f:spec":{".":{},"f:size":{}}}
}

func ExampleType_Apply() {
	live, err := widgets.Apply(object.View{}, widget(map[string]any{"size": int64(1)}), fieldmanager.Options{Manager: "one", Now: noon})
	if err != nil {
		fmt.Println(err)
		return
	}

	other := widget(map[string]any{"size": int64(2)})
	_, err = widgets.Apply(object.ViewOf(live), other, fieldmanager.Options{Manager: "two", Now: noon})
	var conflict *fieldmanager.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println(conflict.Conflicts[0].Field, conflict.Conflicts[0])
	}

	obj, err := widgets.Apply(object.ViewOf(live), other, fieldmanager.Options{Manager: "two", Now: noon, Force: true})
	fmt.Println(obj["spec"], err)
	// Output:
	// .spec.size conflict with "one"
	// map[size:2] <nil>
}

func ExampleType_IgnoreTimestamps() {
	live := widgets.Update(object.View{}, widget(map[string]any{"size": int64(1)}), fieldmanager.Options{Manager: "one", Now: noon})

	obj := widgets.Update(object.ViewOf(live), widget(map[string]any{"size": int64(2)}), fieldmanager.Options{Manager: "one", Now: noon.Add(time.Hour)})
	obj["spec"] = map[string]any{"size": int64(1)} // which a webhook would refuse
	obj = widgets.IgnoreTimestamps(object.ViewOf(live), obj)

	entry := obj["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
	fmt.Println(entry["time"])
	// Output: 2026-01-01T12:00:00Z
}

func ExampleExcept() {
	o := fieldmanager.Options{Manager: "one", Now: noon, Fields: fieldmanager.Except("status")}
	obj := widget(map[string]any{"size": int64(1)})
	obj["status"] = map[string]any{"ready": true}
	obj = widgets.Update(object.View{}, obj, o)

	entry := obj["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
	fmt.Println(entry["fieldsV1"])
	// Output: {"f:spec":{".":{},"f:size":{}}}
}

func ExampleScaleHandler_ToSubresource() {
	scale := fieldmanager.NewScaleHandler("ex.com/v1", map[string]string{"ex.com/v1": "spec.size"})
	obj := widgets.Update(object.View{}, widget(map[string]any{"size": int64(1)}), fieldmanager.Options{Manager: "one", Now: noon})

	entries, err := scale.ToSubresource(obj["metadata"].(map[string]any)["managedFields"].([]any))
	entry := entries[0].(map[string]any)
	fmt.Println(entry["manager"], entry["apiVersion"], entry["fieldsV1"], err)
	// Output: one autoscaling/v1 {"f:spec":{"f:replicas":{}}} <nil>
}
