//go:build go1.24

package fakeapi_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// uidOf returns the UID of an object.
func uidOf(o fakeapi.Object) string { return o["metadata"].(map[string]any)["uid"].(string) }

// create creates a ConfigMap and returns its UID.
func create(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	code, o := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"c-"}}`)
	require.Equal(t, http.StatusCreated, code, o)
	return uidOf(o)
}

// A wanderer does random things to servers that descend from one server.
type wanderer struct {
	t         *testing.T
	rng       *rand.Rand
	servers   []*fakeapi.Server
	snapshots map[*fakeapi.Server][]fakeapi.Snapshot
	created   []string       // UIDs and IDs of tokens, in the order of their creation
	seen      map[string]int // positions in created; those of the first server's objects have -1
}

// wander creates n objects on a server with a seed and its descendants. It returns the UIDs
// of the objects and the IDs of tokens in the order of their creation.
func wander(t *testing.T, n int) []string {
	w := &wanderer{t: t, rng: rand.New(rand.NewPCG(1, 2)), snapshots: map[*fakeapi.Server][]fakeapi.Snapshot{}, seen: map[string]int{}}
	w.add(fakeapi.New(identityOptions()...))
	for line := range strings.SplitSeq(writeState(t, w.servers[0]), "\n") {
		var item struct{ Object fakeapi.Object }
		if json.Unmarshal([]byte(line), &item); item.Object != nil {
			w.seen[uidOf(item.Object)] = -1
		}
	}
	defer func() {
		for _, s := range w.servers {
			w.checkAddresses(s)
			s.Close()
		}
	}()
	for len(w.created) < n {
		w.step()
	}
	return w.created
}

func identityOptions() []fakeapi.Option {
	return []fakeapi.Option{fakeapi.WithInMemory(), fakeapi.WithSeed(1), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16")}})}
}

// add adds a server, in place of another one if there are many.
func (w *wanderer) add(s *fakeapi.Server, err error) {
	w.t.Helper()
	require.NoError(w.t, err)
	if w.servers = append(w.servers, s); len(w.servers) > 12 {
		i := w.rng.IntN(len(w.servers) - 1)
		w.checkAddresses(w.servers[i])
		w.servers[i].Close()
		delete(w.snapshots, w.servers[i])
		w.servers = append(w.servers[:i], w.servers[i+1:]...)
	}
}

// step does one thing to one of the servers.
func (w *wanderer) step() {
	s := w.servers[w.rng.IntN(len(w.servers))]
	switch n := w.rng.IntN(1000); {
	case n < 10:
		w.add(s.NewFork())
	case n < 12:
		w.add(fakeapi.New(append(identityOptions(), fakeapi.WithState(strings.NewReader(writeState(w.t, s))))...))
	case n < 20:
		w.snapshots[s] = append(w.snapshots[s], s.Snapshot())
	case n < 28:
		if kept := w.snapshots[s]; len(kept) > 0 {
			require.NoError(w.t, s.Restore(kept[w.rng.IntN(len(kept))]))
		}
	case n < 30:
		require.NoError(w.t, s.Reset())
	case n < 32:
		require.NoError(w.t, s.Remove("clusterroles.rbac.authorization.k8s.io", "", "view"))
		require.NoError(w.t, s.Upgrade([]string{"v1.35", "v1.36"}[w.rng.IntN(2)]))
		if o, err := s.Get("clusterroles.rbac.authorization.k8s.io", "", "view"); err == nil {
			w.note(uidOf(o))
		} else {
			apitest.Put(w.t, s, fakeapi.Object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "view"}})
		}
	case n < 40:
		w.create(s, "/api/v1/namespaces", "")
	case n < 100:
		w.create(s, "/api/v1/namespaces/default/services", `,"spec":{"ports":[{"port":80}]}`)
	case n < 110:
		code, o := apitest.Do(w.t, s, "POST", "/api/v1/namespaces/kube-system/serviceaccounts", `{"metadata":{"generateName":"s-"}}`)
		require.Equal(w.t, http.StatusCreated, code, o)
		w.note(uidOf(o))
		code, o = apitest.Do(w.t, s, "POST", "/api/v1/namespaces/kube-system/serviceaccounts/"+o["metadata"].(map[string]any)["name"].(string)+"/token", `{}`)
		require.Equal(w.t, http.StatusCreated, code, o)
		w.note(tokenID(w.t, o))
	default:
		w.create(s, "/api/v1/namespaces/default/configmaps", "")
	}
}

// create creates an object with a generated name.
func (w *wanderer) create(s *fakeapi.Server, path, fields string) {
	code, o := apitest.Do(w.t, s, "POST", path, `{"metadata":{"generateName":"o-"}`+fields+`}`)
	require.Equal(w.t, http.StatusCreated, code, o)
	w.note(uidOf(o))
}

// note notes an identifier of something new.
func (w *wanderer) note(id string) {
	w.t.Helper()
	at, ok := w.seen[id]
	require.False(w.t, ok, "identifier %d is that of %d", len(w.created), at)
	w.seen[id] = len(w.created)
	w.created = append(w.created, id)
}

// checkAddresses checks that no two Services have one address.
func (w *wanderer) checkAddresses(s *fakeapi.Server) {
	w.t.Helper()
	services, err := s.List("services", "")
	require.NoError(w.t, err)
	addresses := map[any]bool{}
	for _, o := range services {
		addresses[o["spec"].(map[string]any)["clusterIP"]] = true
	}
	assert.Len(w.t, addresses, len(services))
}

// tokenID returns the ID of the token in a TokenRequest.
func tokenID(t *testing.T, request fakeapi.Object) string {
	t.Helper()
	token := request["status"].(map[string]any)["token"].(string)
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	var claims struct{ JTI string }
	require.NoError(t, json.Unmarshal(payload, &claims))
	return claims.JTI
}

// No two objects have one UID, whatever happens to a server with a seed and to its forks,
// and a second run makes the same ones.
func TestIdentities(t *testing.T) {
	n, again := 10_000, 1000
	if testing.Short() {
		n = again
	}
	assert.Equal(t, wander(t, n)[:again], wander(t, again))
}

func TestIdentitiesOfForks(t *testing.T) {
	parent := fakeapi.Start(t, identityOptions()...)
	uids := map[string]bool{}
	for _, srv := range []*fakeapi.Server{parent, parent.Fork(t), parent.Fork(t), parent.Fork(t).Fork(t), apitest.Replica(t, parent).Fork(t), apitest.Replica(t, parent)} {
		for range 7 {
			uids[create(t, srv)] = true
		}
	}
	assert.Len(t, uids, 6*7)
	namespace, err := parent.Get("namespaces", "", "default")
	require.NoError(t, err)
	assert.NotContains(t, uids, uidOf(namespace))
}

// The UIDs in the fork of a test do not depend on the forks of other tests.
func TestIdentitiesOfTests(t *testing.T) {
	run := func(names ...string) (uids []string) {
		parent := fakeapi.Start(t, identityOptions()...)
		for _, name := range names {
			uids = append(uids, create(t, parent.Fork(named{t, name})))
		}
		return uids
	}
	ab, ba := run("a", "b", "a"), run("b", "a", "a")
	assert.Equal(t, []string{ab[1], ab[0], ab[2]}, ba)
	assert.NotEqual(t, ab[0], ab[1])
	assert.NotEqual(t, ab[0], ab[2])
}

// A named is a test with another name.
type named struct {
	*testing.T
	name string
}

func (n named) Name() string { return n.name }

// An object that is put with a UID that the seed generates keeps it for itself.
func TestIdentitiesOfFixtures(t *testing.T) {
	uids := map[string]bool{}
	for range 3 {
		srv := fakeapi.Start(t, identityOptions()...)
		for uid := range uids {
			o := apitest.ConfigMap(uid, "1")
			o["metadata"].(map[string]any)["uid"] = uid
			apitest.Put(t, srv, o)
		}
		uid := create(t, srv)
		assert.NotContains(t, uids, uid)
		uids[uid] = true
	}
}

// Values that no object has, such as the timeouts of watches and audit IDs, do not change
// UIDs.
func TestIdentitiesWithReads(t *testing.T) {
	first, second := fakeapi.Start(t, identityOptions()...), fakeapi.Start(t, identityOptions()...)
	ids := map[string]bool{}
	for _, srv := range []*fakeapi.Server{second, apitest.Replica(t, second), second.Fork(t)} {
		resp, err := srv.Client().Get(srv.URL + "/api/v1/configmaps?watch=true")
		require.NoError(t, err)
		resp.Body.Close()
		ids[resp.Header.Get("Audit-Id")] = true
	}
	assert.Len(t, ids, 3)
	assert.Equal(t, create(t, first), create(t, second))
}
