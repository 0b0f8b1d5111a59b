package httptest_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/httptest"
)

func TestKubeconfig(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   httptest.Kubeconfig
		want string
	}{
		{"server only", httptest.Kubeconfig{Server: "http://127.0.0.1:8080"}, `apiVersion: v1
kind: Config
clusters:
- name: fakeapi
  cluster:
    server: "http://127.0.0.1:8080"
    insecure-skip-tls-verify: true
users:
- name: fakeapi
  user: {}
contexts:
- name: fakeapi
  context:
    cluster: fakeapi
    user: fakeapi
current-context: fakeapi
`},
		{"everything", httptest.Kubeconfig{
			Server:               "https://[::1]:6443",
			CertificateAuthority: []byte("ca"),
			Token:                "quote \" newline \n <&>",
			ClientCertificate:    []byte("cert"),
			ClientKey:            []byte("key"),
			Namespace:            "ns: #1",
		}, `apiVersion: v1
kind: Config
clusters:
- name: fakeapi
  cluster:
    server: "https://[::1]:6443"
    certificate-authority-data: "BASE64(ca)"
users:
- name: fakeapi
  user:
    token: "quote \" newline \n \u003c\u0026\u003e"
    client-certificate-data: "BASE64(cert)"
    client-key-data: "BASE64(key)"
contexts:
- name: fakeapi
  context:
    cluster: fakeapi
    user: fakeapi
    namespace: "ns: #1"
current-context: fakeapi
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			for _, s := range []string{"ca", "cert", "key"} {
				want = strings.ReplaceAll(want, "BASE64("+s+")", base64.StdEncoding.EncodeToString([]byte(s)))
			}
			assert.Equal(t, want, string(tt.in.YAML()))
		})
	}
}

func TestKubeconfigWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	k := httptest.Kubeconfig{Server: "http://127.0.0.1:8080", Token: "secret"}
	require.NoError(t, k.WriteFile(path))

	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(k.YAML()), string(data))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	missing := filepath.Join(dir, "missing", "config")
	err = k.WriteFile(missing)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, missing+": ", "the error names the file of the caller")
	blocked := filepath.Join(dir, "blocked")
	require.NoError(t, os.MkdirAll(filepath.Join(blocked, "x"), 0o755))
	require.ErrorContains(t, k.WriteFile(blocked), blocked+": ")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "no temporary file is left")
}
