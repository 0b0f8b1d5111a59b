package pods_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestValidateSchedulingGroups(t *testing.T) {
	typ := kindtest.TypeWith(t, "pods", map[string]bool{"GenericWorkload": true, "EvictionRequestAPI": true})
	pod := kindtest.Decode(t, typ, `{"metadata":{"name":"a","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}],
		"schedulingGroup":{},"evictionResponders":[{"name":"example.com/a","priority":1}]}}`)
	got := typ.ValidateAll(context.Background(), pod, object.View{}, nil).Message()
	assert.Contains(t, got, "spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`, spec.schedulingGroup: Forbidden: may not be set when evictionResponders is set, spec.evictionResponders[0].priority: ")
}
