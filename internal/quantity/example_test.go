package quantity_test

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/quantity"
)

func ExampleCanonical() {
	s, err := quantity.Canonical("1024Mi")
	fmt.Println(s, err)
	// Output: 1Gi <nil>
}
