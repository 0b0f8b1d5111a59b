package discovery_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/discovery"
)

func TestCompareVersions(t *testing.T) {
	order := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v1beta2", "v1beta1", "v12alpha1", "v11alpha2",
		"", "1", "V1", "foo1", "foo10", "v", "v+1", "v1alpha", "v1beta1alpha1", "v1gamma1", "valpha1"}
	for i, a := range order {
		for j, b := range order {
			got := discovery.CompareVersions(a, b)
			assert.Equal(t, i < j, got < 0, "%q before %q", a, b)
			assert.Equal(t, i == j, got == 0, "%q and %q", a, b)
		}
	}
}

func ExampleCompareVersions() {
	versions := []string{"v1alpha1", "v1", "v2beta1", "v2"}
	slices.SortFunc(versions, discovery.CompareVersions)
	fmt.Println(versions)
	// Output: [v2 v1 v2beta1 v1alpha1]
}
