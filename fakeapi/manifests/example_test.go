package manifests_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

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

// A test of a chart says what an upgrade does to the objects of the version before.
func ExampleValidate_base() {
	before := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`
	c := manifests.Config{
		Files: fstest.MapFS{"before.yaml": {Data: []byte(before)}},
		Base:  "before.yaml",
		Stdin: strings.NewReader(strings.ReplaceAll(before, "web:1", "web:2")),
	}
	for r, err := range manifests.Validate(context.Background(), c, "-") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.State, r.Kind, r.Name)
		for _, change := range r.Answers[0].Changes {
			fmt.Println(change.Path, change.Old, change.New)
		}
	}
	// Output:
	// changed Deployment web
	// spec.template.spec.containers[name=web].image web:1 web:2
}

// What a StatefulSet of a cluster of v1.35 meets on the way to v1.37.
func ExampleValidate_upgrade() {
	const set = `
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: postgres}]}
`
	c := manifests.Config{From: "1.35", To: "1.37", Stdin: strings.NewReader(set)}
	for r, err := range manifests.Validate(context.Background(), c, "-") {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, f := range r.Findings {
			fmt.Println(f.Severity, f.Message, f.Releases)
		}
	}
	// Output: warning spec.updateStrategy.rollingUpdate.maxUnavailable: served as 1, was not there before [v1.37.2]
}
