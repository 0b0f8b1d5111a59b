package bootstrap

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestObjects(t *testing.T) {
	count := map[any]int{}
	for _, obj := range Objects() {
		count[obj["kind"]]++
		assert.NotEmpty(t, object.String(obj, "metadata", "name"))
	}
	assert.Equal(t, map[any]int{"PriorityLevelConfiguration": 8, "FlowSchema": 11, "PriorityClass": 2}, count)
}

func TestSpec(t *testing.T) {
	assert.Equal(t, int64(1), Spec("FlowSchema", "exempt")["matchingPrecedence"])
	assert.Equal(t, "Exempt", Spec("PriorityLevelConfiguration", "exempt")["type"])
	assert.Nil(t, Spec("FlowSchema", "node-high"), "the name of another kind")
}
