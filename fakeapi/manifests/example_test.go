package manifests_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// A test of a chart validates what helm template prints.
func ExampleValidate() {
	rendered := `
# Source: shop/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: Shop
`
	c := manifests.Config{Stdin: strings.NewReader(rendered)}
	for r, err := range manifests.Validate(context.Background(), c, "-") {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, f := range r.Findings {
			fmt.Printf("%s: line %d: %s\n", r.Origin, f.Line, f.Field)
		}
	}
	// Output: shop/templates/config.yaml: line 6: metadata.name
}
