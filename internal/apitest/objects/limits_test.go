package objects_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestDeleteCollectionAtVersion deletes what lists at a resourceVersion return. kube-apiserver
// lists in pages, so that an unlimited request with a version lists exactly that version, as one
// with a limit does.
func TestDeleteCollectionAtVersion(t *testing.T) {
	const path = "/api/v1/namespaces/default/configmaps"
	for _, tt := range []struct {
		query   string
		code    int
		message string
		left    int
	}{
		{"resourceVersion=1", 410, "The resourceVersion for the provided list is too old.", 3},
		{"resourceVersion=1&dryRun=All", 410, "The resourceVersion for the provided list is too old.", 3},
		{"resourceVersion=1&limit=1", 410, "The resourceVersion for the provided list is too old.", 3},
		{"resourceVersion=1&resourceVersionMatch=Exact", 410, "The resourceVersion for the provided list is too old.", 3},
		{"resourceVersion=1&resourceVersionMatch=NotOlderThan", 409, "the ResourceVersion in the precondition (1) does not match", 3},
		{"resourceVersion=0", 409, "the ResourceVersion in the precondition (0) does not match", 3},
		{"resourceVersion=0&resourceVersionMatch=Exact", 422, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`, 3},
		{"limit=2", 200, "", 1},
		{"limit=-1", 200, "", 0},
		{"", 200, "", 0},
	} {
		t.Run(tt.query, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			for _, name := range []string{"a", "b", "c"} {
				code, _ := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"`+name+`"}}`)
				require.Equal(t, 201, code)
			}
			srv.Compact(0)
			code, obj := apitest.Do(t, srv, "DELETE", path+"?"+tt.query, "")
			assert.Equal(t, tt.code, code)
			message, _ := obj["message"].(string)
			assert.Contains(t, message, tt.message)
			_, list := apitest.Do(t, srv, "GET", path, "")
			assert.Len(t, list["items"], tt.left)
		})
	}
}

func TestPatchOfTooManyOperations(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	body := "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"x"},`, 10_000) + `{"op":"nope"}]`
	req, err := http.NewRequest("PATCH", srv.URL+"/api/v1/namespaces/default", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json-patch+json")
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	assert.Equal(t, "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001", apitest.Answer(t, resp)["message"])
	assert.Equal(t, 413, resp.StatusCode)
}
