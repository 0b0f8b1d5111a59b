package explore_test

import (
	"fmt"

	"github.com/kubefake/kubefake/scenarios/explore"
)

func ExampleObjects() {
	objects, err := explore.Objects("testdata/generators.yaml", 1)
	if err != nil {
		panic(err)
	}
	fuels := map[any]bool{}
	for obj := range objects {
		spec := obj["spec"].(map[string]any)
		if fuels[spec["fuel"]] = true; len(fuels) == 3 {
			break // each value of the enum
		}
		_, grid := spec["grid"]
		_, battery := spec["battery"]
		if grid == battery {
			fmt.Println("the rule of the definition is broken")
		}
	}
	fmt.Println(fuels)
	// Output: map[diesel:true sun:true wind:true]
}

func ExampleNearlyValid() {
	objects, err := explore.NearlyValid("testdata/generators.yaml", 4)
	if err != nil {
		panic(err)
	}
	for _, wrong := range objects {
		fmt.Println(wrong)
		break
	}
	// Output: spec.battery.cells: Invalid value: -2: spec.battery.cells in body should be greater than or equal to 1
}
