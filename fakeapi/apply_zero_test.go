//go:build go1.24

package fakeapi_test

import (
	"net/http"
	"strings"
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
	r, err := http.NewRequestWithContext(t.Context(), "PATCH", srv.URL+path+"/a?fieldManager=m",
		strings.NewReader(`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a"}}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusCreated, resp.StatusCode)

	code, answer := do(t, srv, "POST", path, `{"metadata":{"name":"b"},"spec":{}}`)
	require.Equal(t, http.StatusCreated, code, answer)
	fields, _ := answer["metadata"].(map[string]any)["managedFields"].([]any)
	require.Len(t, fields, 1)
	assert.Equal(t, map[string]any{"f:spec": map[string]any{"f:policyTypes": map[string]any{}}}, fields[0].(map[string]any)["fieldsV1"])
}
