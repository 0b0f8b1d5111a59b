package access_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// Since v1.37 a reason begins with the name of its authorizer.
func TestReasonsOfReleases(t *testing.T) {
	for release, want := range map[string]string{
		"1.36": `in the namespace \"default\": RBAC: clusterrole.rbac.authorization.k8s.io \"missing\" not found`,
		"1.37": `in the namespace \"default\": rbac: RBAC: clusterrole.rbac.authorization.k8s.io \"missing\" not found`,
	} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release), fakeapi.WithRBAC(),
			fakeapi.WithToken("alicetoken", fakeapi.User{Name: "alice"}),
			fakeapi.WithObjects(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b","namespace":"default"},
				"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"missing"},
				"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}`))
		req, err := http.NewRequest("GET", srv.URL+"/api/v1/namespaces/default/pods", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer alicetoken")
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		assert.Equal(t, 403, resp.StatusCode, release)
		assert.Contains(t, string(text), want, release)
	}
}
