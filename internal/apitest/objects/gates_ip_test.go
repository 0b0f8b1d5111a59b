package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// The address of a Service is checked before it is allocated, by the rules of the gate.
func TestStrictIPCIDRValidation(t *testing.T) {
	for _, row := range []struct {
		name string
		on   bool
		want int
	}{{"strict", true, 422}, {"not strict", false, 201}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"StrictIPCIDRValidation": row.on}}))
			code, answer := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.011","ports":[{"port":80}]}}`)
			assert.Equal(t, row.want, code, answer["message"])
		})
	}
}
