// Package target starts the server under test of the conformance tests.
//
// By default it is a server of this module, in the process of the test and for one
// test only. The environment can name another one:
//
//	CONFORMANCE_SERVER  its base URL; it must accept AdminToken and AliceToken
//	CONFORMANCE_ETCD    the client URL of its etcd, for compaction
//	CONFORMANCE_GATES   its enabled feature gates, separated by commas
//
// All tests share a server that the environment names, and it keeps the objects
// that they do not delete.
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
	"github.com/kubefake/kubefake/fakeapi/apiserver"
)

// Bearer tokens that every target accepts: of the user admin in the group
// system:masters, and of the user alice in the group devs, who has no rights.
const (
	AdminToken = "admintoken"
	AliceToken = "alicetoken"
)

// A Server is a running API server. Its methods may be called concurrently.
type Server struct {
	// URL is the base URL, without a slash at its end. Clients must not verify
	// the server's certificate.
	URL string

	compact func() error
}

// Remote reports whether the environment names the server.
func Remote() bool { return os.Getenv("CONFORMANCE_SERVER") != "" }

// Start returns a server with RBAC, without controllers and with the service range
// 10.0.0.0/24, which stops when t ends. If the environment names a server, Start
// returns that one.
//
// gates are the feature gates that the test needs. Start skips t if they are not
// enabled in the environment's server.
func Start(t testing.TB, gates ...string) *Server {
	t.Helper()
	if !Remote() {
		srv := fakeapi.Start(t, append(Options(gates...), fakeapi.WithTLS())...) // kubectl sends tokens only over TLS
		return &Server{
			URL:     srv.URL,
			compact: func() error { srv.Compact(0); return nil },
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
		compact: func() error { return CompactEtcd(os.Getenv("CONFORMANCE_ETCD")) },
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
		fakeapi.WithAPIServer(apiserver.Config{FeatureGates: enabled}),
		fakeapi.WithToken(AdminToken, fakeapi.User{Name: "admin", UID: "admin", Groups: []string{"system:masters"}}),
		fakeapi.WithToken(AliceToken, fakeapi.User{Name: "alice", UID: "alice", Groups: []string{"devs"}}),
		fakeapi.WithRBAC(),
	}
}

// Compact discards the history of all objects up to now. It fails if the
// environment names a server but not its etcd.
func (s *Server) Compact() error { return s.compact() }

// CompactEtcd discards the history of all keys of the etcd with the given client URL.
func CompactEtcd(etcd string) error {
	etcd = strings.TrimSuffix(etcd, "/")
	if etcd == "" {
		return fmt.Errorf("compaction needs CONFORMANCE_ETCD")
	}
	var now struct {
		Header struct {
			Revision json.Number `json:"revision"`
		} `json:"header"`
	}
	// The response to any range has the revision; etcd's gateway takes keys as
	// base64.
	if err := post(etcd+"/v3/kv/range", `{"key":"YQ=="}`, &now); err != nil {
		return err
	}
	body := fmt.Sprintf(`{"revision":%q,"physical":true}`, now.Header.Revision)
	err := post(etcd+"/v3/kv/compaction", body, &struct{}{})
	if err != nil && strings.Contains(err.Error(), "has been compacted") {
		return nil // by another test
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
