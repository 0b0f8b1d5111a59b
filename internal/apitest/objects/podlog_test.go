package objects_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/kubelet"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestPodLog(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, pod := range []string{
		`{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {nodeName: m, containers: [{name: c, image: i}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: two, labels: {app: web}}, spec: {containers: [{name: c, image: i}, {name: d, image: i}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: c, image: i}]}}`,
	} {
		_, err := srv.Store(pod)
		require.NoError(t, err)
	}
	require.NoError(t, srv.Kubelet().Pods("app=web").SetLog("one\ntwo\nthree\n"))
	require.NoError(t, srv.Kubelet().Pods("app=web").Container("d").SetLog("no newline"))
	require.ErrorIs(t, srv.Kubelet().Pods("=").SetLog(""), kubelet.ErrInvalid)
	for _, row := range []struct {
		path string
		code int
		want string
	}{
		{"web/log", 200, "one\ntwo\nthree\n"},
		{"web/log?tailLines=2", 200, "two\nthree\n"},
		{"web/log?tailLines=9", 200, "one\ntwo\nthree\n"},
		{"web/log?tailLines=0", 200, ""},
		{"web/log?limitBytes=5", 200, "one\nt"},
		{"two/log?container=d", 200, "no newline"},
		{"two/log?container=d&tailLines=1", 200, "no newline"},
		{"two/log?container=c", 200, "one\ntwo\nthree\n"},
		{"other/log", 204, ""},
	} {
		t.Run(row.path, func(t *testing.T) {
			for _, s := range []*fakeapi.Server{srv, srv.Fork(t)} {
				resp, err := s.Client().Get(s.URL + "/api/v1/namespaces/default/pods/" + row.path)
				require.NoError(t, err)
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				assert.Equal(t, row.code, resp.StatusCode)
				assert.Equal(t, row.want, string(body))
			}
		})
	}
	resp, err := srv.Client().Get(srv.URL + "/api/v1/namespaces/default/pods/two/log")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode, "a container must be named")

	_, err = srv.Store(`{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {containers: []}}`)
	require.NoError(t, err)
	code, answer := apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/pods/bare/log", "")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Equal(t, "a container name must be specified for pod bare", answer["message"])
}
