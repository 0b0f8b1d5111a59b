package resourceapi

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultDeviceRequestsOfV1beta1(t *testing.T) {
	flat := map[string]any{"devices": map[string]any{"requests": []any{map[string]any{"deviceClassName": "c"}, map[string]any{"firstAvailable": []any{}}}}}
	defaultDeviceRequests(flat)
	requests := object.List(flat, "devices", "requests")
	assert.Equal(t, int64(1), requests[0].(map[string]any)["count"])
	assert.Nil(t, requests[1].(map[string]any)["count"])
}
