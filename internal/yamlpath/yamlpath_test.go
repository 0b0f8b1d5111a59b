package yamlpath

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestFind(t *testing.T) {
	text := `base: &base
  image: a
spec:
  containers:
  - name: web
    <<: *base
  - name: proxy
    ports: [80, 443]
labels:
  app.kubernetes.io/name: web
  team: x
`
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &doc))
	for _, row := range []struct {
		name, message string
		paths         []string
		want          Position
	}{
		{"the document", "", nil, Position{1, 1}},
		{"a member", "", []string{"spec.containers"}, Position{4, 3}},
		{"an element by its index", "", []string{"spec.containers[1].name"}, Position{7, 5}},
		{"an element by its name", "", []string{`.spec.containers[name="proxy"].ports`}, Position{8, 5}},
		{"a path after another one", "", []string{"spec", "containers[0]"}, Position{5, 5}},
		{"a path without indices", "", []string{"spec.containers.ports"}, Position{8, 5}},
		{"a member that is merged", "", []string{"spec.containers[0].image"}, Position{2, 3}},
		{"a name with dots", "", []string{"labels.app.kubernetes.io/name"}, Position{10, 3}},
		{"a name in brackets", "", []string{"labels[app.kubernetes.io/name]"}, Position{10, 3}},
		{"the closest parent", "", []string{"spec.template.spec"}, Position{3, 1}},
		{"nothing after a path that is not there", "", []string{"none", "spec"}, Position{1, 1}},
		{"a value that the message quotes", `Invalid value: "x": wrong`, []string{"labels"}, Position{11, 3}},
		{"an element that the message quotes", `Invalid value: 443: wrong`, []string{"spec.containers[1].ports"}, Position{8, 17}},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, Find(doc.Content[0], row.message, row.paths...))
		})
	}
}
