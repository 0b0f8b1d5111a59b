package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestPathString(t *testing.T) {
	var root *validation.Path
	for _, tc := range []struct {
		name string
		path *validation.Path
		want string
	}{
		{"field", validation.NewPath("spec"), "spec"},
		{"fields", validation.NewPath("spec", "template", "spec"), "spec.template.spec"},
		{"index", validation.NewPath("spec").Child("containers").Index(10).Child("name"), "spec.containers[10].name"},
		{"item", validation.NewPath("spec").Item("containers", 10).Child("name"), "spec.containers[10].name"},
		{"item of the nil root", root.Item("list", 3), "list[3]"},
		{"negative index", validation.NewPath("a").Index(-1), "a[-1]"},
		{"key", validation.NewPath("data").Key("a.b/c"), "data[a.b/c]"},
		{"empty key", validation.NewPath("data").Key(""), "data[]"},
		{"index of index", validation.NewPath("m").Index(1).Index(2), "m[1][2]"},
		{"field of the nil root", root.Child("spec").Child("x"), "spec.x"},
		{"index of the nil root", root.Index(3), "[3]"},
		{"nil root", root, "<nil>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.path.String())
		})
	}
}

func TestPathsShareParent(t *testing.T) {
	spec := validation.NewPath("spec")
	a, b := spec.Child("a"), spec.Child("b")
	assert.Equal(t, []string{"spec", "spec.a", "spec.b"}, []string{spec.String(), a.String(), b.String()})
}

func TestPathFormatsOnlyInString(t *testing.T) {
	spec := validation.NewPath("spec")
	cost := testing.AllocsPerRun(100, func() {
		for i := range 3 {
			validation.NonNegative(1, spec.Child("containers").Index(i).Child("priority"))
		}
	})
	assert.Zero(t, cost)
}
