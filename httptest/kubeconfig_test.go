package httptest_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

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
    namespace: "default"
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

// A file may have several servers. The first one is the current context.
func TestKubeconfigOfSeveral(t *testing.T) {
	file := httptest.Kubeconfig{Name: "east", Server: "http://127.0.0.1:1", Others: []httptest.Kubeconfig{{Name: "we st", Server: "https://127.0.0.1:2", Token: "t"}, {Server: "https://127.0.0.1:3"}}}
	assert.Equal(t, `apiVersion: v1
kind: Config
clusters:
- name: "east"
  cluster:
    server: "http://127.0.0.1:1"
    insecure-skip-tls-verify: true
- name: "we st"
  cluster:
    server: "https://127.0.0.1:2"
- name: fakeapi
  cluster:
    server: "https://127.0.0.1:3"
users:
- name: "east"
  user: {}
- name: "we st"
  user:
    token: "t"
- name: fakeapi
  user: {}
contexts:
- name: "east"
  context:
    cluster: "east"
    user: "east"
    namespace: "default"
- name: "we st"
  context:
    cluster: "we st"
    user: "we st"
    namespace: "default"
- name: fakeapi
  context:
    cluster: fakeapi
    user: fakeapi
    namespace: "default"
current-context: "east"
`, string(file.YAML()))
}
