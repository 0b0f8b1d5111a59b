package kinds_test

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
)

func ExampleTypes() {
	release, err := release.Open("v1.36")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range kinds.Types(release) {
		if t.Kind != "Pod" {
			continue
		}
		pod, _, err := t.Codec.Decode([]byte(`{"metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"nginx"}]}}`), true)
		if err != nil {
			fmt.Println(err)
			return
		}
		t.Default(pod)
		t.Prepare(pod, object.View{})
		fmt.Println(object.String(pod, "spec", "restartPolicy"))
		fmt.Println(object.String(pod, "status", "phase"), object.String(pod, "status", "qosClass"))
	}
	// Output:
	// Always
	// Pending BestEffort
}
