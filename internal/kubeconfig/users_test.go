package kubeconfig

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUsers(t *testing.T) {
	write := func(text string) *Users {
		path := filepath.Join(t.TempDir(), "config")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		users, err := LoadUsers(path, 0)
		require.NoError(t, err)
		return users
	}
	named := write(`{users: [{name: "a.b.c:1", user: {token: exact}}, {name: "*.c:1", user: {token: domain}}, {name: "*.b.c:1", user: {token: longer}}, {name: s.ns.svc, user: {token: service}}, {name: "*.svc", user: {username: u, password: p}}, {name: "*", user: {token: any}}]}`)
	current := write(`{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "https://x"}}], users: [{name: u, user: {token: current}}]}`)
	for _, tt := range []struct {
		name, host string
		users      *Users
		want       string // the header Authorization
	}{
		{"exact", "a.b.c:1", named, "Bearer exact"},
		{"longest pattern", "x.b.c:1", named, "Bearer longer"},
		{"shorter pattern", "x.y.c:1", named, "Bearer domain"},
		{"without the port 443", "s.ns.svc:443", named, "Bearer service"},
		{"pattern without the port 443", "t.ns.svc:443", named, "Basic dTpw"},
		{"another port", "s.ns.svc:8443", named, "Bearer any"},
		{"current context", "h:1", current, "Bearer current"},
		{"none", "h:1", write(`{}`), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			transport, err := tt.users.For(tt.host, &http.Transport{TLSClientConfig: &tls.Config{}})
			require.NoError(t, err)
			r := httptest.NewRequest("GET", "/", nil)
			if a, ok := transport.(*authorized); ok {
				require.NoError(t, a.add(r))
			}
			assert.Equal(t, tt.want, r.Header.Get("Authorization"))
		})
	}
}
