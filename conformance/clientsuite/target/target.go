// Package target gives conformance tests the server that they talk to.
//
// By default that is a server of this project, started in process for one
// test. The environment can name another one:
//
//	CONFORMANCE_SERVER  its base URL; it must accept AdminToken and AliceToken
//	CONFORMANCE_ETCD    the client URL of its etcd, for compaction
//	CONFORMANCE_GATES   the feature gates it has on, separated by commas
//
// A server that the environment names is shared by all tests and keeps what
// they leave behind.
package target

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubefake/kubefake/fakeapi"
)

// Bearer tokens that every target accepts: of the user admin in the group
// system:masters, and of the user alice in the group devs, who has no rights.
const (
	AdminToken = "admintoken"
	AliceToken = "alicetoken"
)

// A Server is a running API server. Its methods may be called concurrently.
type Server struct {
	// URL is the base URL, without a slash at its end. The server's
	// certificate is one that nobody signed.
	URL string

	compact func() error
}

// Remote reports whether the environment names the server.
func Remote() bool { return os.Getenv("CONFORMANCE_SERVER") != "" }

// Start returns a server with RBAC, without controllers and with services in
// 10.0.0.0/24. It stops when t ends. Where the environment names a server,
// Start returns that one.
//
// A test that needs feature gates names them. It is skipped where the
// environment's server has them off.
func Start(t testing.TB, gates ...string) *Server {
	t.Helper()
	if !Remote() {
		srv := fakeapi.Start(t, append(Options(gates...), fakeapi.WithTLS())...) // kubectl sends tokens only over TLS
		return &Server{
			URL:     srv.URL,
			compact: func() error { srv.Compact(); return nil },
		}
	}
	on := strings.Split(os.Getenv("CONFORMANCE_GATES"), ",")
	for _, g := range gates {
		if !slices.Contains(on, g) {
			t.Skipf("the feature gate %s is not in CONFORMANCE_GATES", g)
		}
	}
	return &Server{
		URL:     strings.TrimSuffix(os.Getenv("CONFORMANCE_SERVER"), "/"),
		compact: compactEtcd,
	}
}

// Options returns the options of a server that Start starts in process, except
// its transport.
func Options(gates ...string) []fakeapi.Option {
	enabled := map[string]bool{}
	for _, g := range gates {
		enabled[g] = true
	}
	return []fakeapi.Option{
		fakeapi.WithFeatureGates(enabled),
		fakeapi.WithToken(AdminToken, fakeapi.User{Name: "admin", UID: "admin", Groups: []string{"system:masters"}}),
		fakeapi.WithToken(AliceToken, fakeapi.User{Name: "alice", UID: "alice", Groups: []string{"devs"}}),
		fakeapi.WithRBAC(),
	}
}

// Compact discards the history of all objects up to now. Where the environment
// names a server but not its etcd, it returns an error.
func (s *Server) Compact() error { return s.compact() }

func compactEtcd() error {
	etcd := strings.TrimSuffix(os.Getenv("CONFORMANCE_ETCD"), "/")
	if etcd == "" {
		return fmt.Errorf("compaction needs CONFORMANCE_ETCD")
	}
	var now struct {
		Header struct {
			Revision json.Number `json:"revision"`
		} `json:"header"`
	}
	// Any range tells the revision; etcd's gateway takes keys as base64.
	if err := post(etcd+"/v3/kv/range", `{"key":"YQ=="}`, &now); err != nil {
		return err
	}
	body := fmt.Sprintf(`{"revision":%q,"physical":true}`, now.Header.Revision)
	err := post(etcd+"/v3/kv/compaction", body, &struct{}{})
	if err != nil && strings.Contains(err.Error(), "has been compacted") {
		return nil // another test was faster
	}
	return err
}

func post(url, body string, into any) error {
	resp, err := http.Post(url, "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, resp.Status, answer)
	}
	return json.Unmarshal(answer, into)
}
