//go:build go1.24

package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The errors are those of kube-apiserver v1.37.2. FILE is the file and DIR its folder.
func TestLoadClient(t *testing.T) {
	const valid = "clusters: [{name: c, cluster: {server: 'https://a.example/b/'}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
	with := func(old, replacement string) string { return strings.Replace(valid, old, replacement, 1) }
	const nothing = "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
	for _, tt := range []struct{ name, text, url, err string }{
		{"valid", valid, "https://a.example/b", ""},
		{"unknown field", valid + "other: 1", "https://a.example/b", ""},
		{"unknown user", with("user: u}", "user: v}"), "https://a.example/b", ""},
		{"no scheme", with("https://a.example/b/", "a.example:80"), "http://a.example:80", ""},
		{"no scheme and a CA that is not checked", with("server: 'https://a.example/b/'", "server: a.example, insecure-skip-tls-verify: true"), "https://a.example", ""},

		{"nothing", "", "", nothing},
		{"no current context", with("current-context: x", ""), "", nothing},
		{"unknown cluster", with("cluster: c,", "cluster: d,"), "", nothing},
		{"unknown context", with("current-context: x", "current-context: other"), "", "invalid configuration: [context was not found for specified context: other, cluster has no server defined]"},
		{"missing file of a token", with("token: t", "tokenFile: none"), "", "DIR/none: no such file or directory"},
		{"plugin", with("token: t", "exec: {command: a}"), "", "invalid configuration: [apiVersion must be specified for u to use exec authentication plugin, interactiveMode must be specified for u to use exec authentication plugin]"},
		{"mode of a plugin", with("token: t", "exec: {command: a, apiVersion: client.authentication.k8s.io/v1, interactiveMode: b}"), "", `invalid configuration: invalid interactiveMode for u: "b"`},
		{"no YAML", "[", "", `error loading config file "FILE": yaml: line 1: did not find expected node content`},
		{"another kind", "apiVersion: v1\nkind: Pod", "", `error loading config file "FILE": no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"another version", "apiVersion: v2\nkind: Config", "", `error loading config file "FILE": no kind "Config" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"`},
		{"no server", with("server: 'https://a.example/b/'", ""), "", `invalid configuration: no server found for cluster "c"`},
		{"server", with("https://a.example/b/", "a:b"), "", `parse "http://a:b": invalid port ":b" after host`},
		{"proxy", with("server:", "proxy-url: 'a b://', server:"), "", `invalid configuration: invalid 'proxy-url' "a b://" for cluster "c": could not parse: a b://`},
		{"scheme of a proxy", with("server:", "proxy-url: 'ftp://a', server:"), "", `invalid configuration: invalid 'proxy-url' "ftp://a" for cluster "c": unsupported scheme "ftp", must be http, https, or socks5`},
		{"cluster twice", with("clusters: [", "clusters: [{name: c, cluster: {insecure-skip-tls-verify: true, extensions: [{name: e, extension: 1}]}}, "), "", `error loading config file "FILE": error converting *[]NamedCluster into *map[string]*api.Cluster: duplicate name "c" in list: [{c {  true  []  false [{e {[49] <nil>}}]}} {c {https://a.example/b/  false  []  false []}}]`},
		{"user twice", with("users: [", "users: [{name: u, user: {as-groups: [g]}}, "), "", `error loading config file "FILE": error converting *[]NamedAuthInfo into *map[string]*api.AuthInfo: duplicate name "u" in list: [{u { []  []     [g] map[]   <nil> <nil> []}} {u { []  [] t    [] map[]   <nil> <nil> []}}]`},
		{"context twice", with("contexts: [", "contexts: [{name: x}, "), "", `error loading config file "FILE": error converting *[]NamedContext into *map[string]*api.Context: duplicate name "x" in list: [{x {   []}} {x {c u  []}}]`},
		{"missing CA", with("server:", "certificate-authority: none, server:"), "", "invalid configuration: unable to read certificate-authority DIR/none for c due to DIR/none: no such file or directory"},
		{"no CA", with("server:", "certificate-authority-data: YQ==, server:"), "", "unable to load root certificates: unable to parse bytes as PEM block"},
		{"CA that is not checked", with("server:", "insecure-skip-tls-verify: true, certificate-authority-data: YQ==, server:"), "", "specifying a root certificates file with the insecure flag is not allowed"},
		{"certificate without a key", with("token: t", "client-certificate: none"), "", "invalid configuration: [client-key-data or client-key must be specified for u to use the clientCert authentication method., unable to read client-cert DIR/none for u due to DIR/none: no such file or directory]"},
		{"certificate", with("token: t", "client-certificate-data: YQ==, client-key-data: YQ=="), "", "tls: failed to find any PEM data in certificate input"},
		{"two ways to authenticate", with("token: t", "token: t, username: a"), "", "invalid configuration: more than one authentication method found for u; found [token basicAuth], only one is allowed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "kubeconfig")
			require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
			c, err := LoadClient(t.Context(), file, 0)
			if tt.err == "" {
				require.NoError(t, err)
				assert.Equal(t, tt.url, c.URL)
				return
			}
			require.Error(t, err)
			assert.Equal(t, strings.NewReplacer("FILE", file, "DIR", dir).Replace(tt.err), strings.TrimPrefix(err.Error(), file+": "))
		})
	}
	_, err := LoadClient(t.Context(), "", 0)
	assert.EqualError(t, err, nothing)
}
