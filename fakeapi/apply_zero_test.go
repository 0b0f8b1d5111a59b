package fakeapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// The result of an apply that creates an object shared values with the empty object of its kind,
// which then had the defaults of the new object: later objects did not own theirs.
func TestApplyDoesNotChangeLaterObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
	code, answer := askWith(t, srv, "PATCH", path+"/a?fieldManager=m", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a"}}`,
		"Content-Type", "application/apply-patch+yaml")
	require.Equal(t, http.StatusCreated, code, answer)

	code, answer = do(t, srv, "POST", path, `{"metadata":{"name":"b"},"spec":{}}`)
	require.Equal(t, http.StatusCreated, code, answer)
	fields, _ := answer["metadata"].(map[string]any)["managedFields"].([]any)
	require.Len(t, fields, 1)
	assert.Equal(t, map[string]any{"f:spec": map[string]any{"f:policyTypes": map[string]any{}}}, fields[0].(map[string]any)["fieldsV1"])
}
