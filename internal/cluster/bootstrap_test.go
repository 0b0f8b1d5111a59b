//go:build go1.24

package cluster

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// fresh returns a cluster of the newest release unless c says otherwise.
func fresh(t testing.TB, c Config) *Cluster {
	t.Helper()
	if c.Release == nil {
		newest, err := release.Open("")
		require.NoError(t, err)
		c.Release = newest
	}
	if c.Clock == nil {
		c.Clock = clock.New()
	}
	c.Context, c.Journal = t.Context(), journal.New(c.Clock.Now)
	s, err := New(c)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// typeOf is the type that objects of a key are stored in.
func typeOf(s *Cluster, key string) *resource.Type {
	for t := range s.Surface().All() {
		if !t.Virtual() && len(key) > len(t.Prefix) && key[:len(t.Prefix)] == t.Prefix {
			return t.Storage()
		}
	}
	return nil
}

// every is all that a server has, by key.
func every(t *testing.T, s *Cluster) map[string]*storage.Object {
	t.Helper()
	view, err := s.Store().View(0)
	require.NoError(t, err)
	out := map[string]*storage.Object{}
	for item := range view.Range("", "") {
		out[item.Key] = item.Value
	}
	return out
}

// What a fresh server has is stored as if it had been written through the API:
// in the same form, valid, and with what selecting needs beside it.
func TestSeedsAreStoredForm(t *testing.T) {
	for _, name := range release.Names() {
		t.Run(name, func(t *testing.T) {
			p, err := release.Open(name)
			require.NoError(t, err)
			s := fresh(t, Config{Release: p})
			for key, o := range every(t, s) {
				typ := typeOf(s, key)
				require.NotNil(t, typ, key)
				assert.Equal(t, key, typ.Key(o.Namespace, o.Name))
				obj := o.Decode(typ)
				want := storage.New(typ, o.Decode(typ), nil).At(o.Revision)
				assert.Equal(t, string(want.JSON()), string(o.JSON()), key)
				assert.Equal(t, want.Labels, o.Labels, key)
				assert.Equal(t, want.Fields, o.Fields, key)
				assert.Equal(t, want.UID, o.UID, key)
				if typ.Validate != nil {
					assert.Empty(t, typ.Validate(obj, object.ViewOf(obj)), key)
				}
			}
		})
	}
}

// The API services tell which versions are served.
func TestSeedsOfRelease(t *testing.T) {
	for name, want := range map[string]struct{ objects, services int }{
		"v1.32.13":    {174, 20},
		"v1.36.3":     {185, 21},
		"v1.36.3-all": {195, 31},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := release.Open(name)
			require.NoError(t, err)
			s := fresh(t, Config{Release: p})
			assert.Len(t, every(t, s), want.objects)
			services := 0
			for range s.Store().All(s.Surface().Lookup("apiregistration.k8s.io", "v1", "apiservices").Prefix) {
				services++
			}
			assert.Equal(t, want.services, services)
		})
	}
}

// Servers that start in one second share what is alike, and nothing else: a
// namespace has a UID of its own, the same again for the same seed.
func TestSharedSeeds(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	server := func(seed uint64, at time.Time) map[string]*storage.Object {
		return every(t, fresh(t, Config{Seed: seed, Clock: clock.NewManual(at)}))
	}
	const role, namespace = "/clusterroles.rbac.authorization.k8s.io/admin", "/namespaces/kube-system"
	a, again, b, later := server(1, start), server(1, start), server(2, start), server(1, start.Add(time.Hour))
	assert.Same(t, a[role], b[role])
	assert.Equal(t, a[namespace], again[namespace])
	assert.NotEqual(t, a[namespace].UID, b[namespace].UID)
	assert.Equal(t, a[role].UID, later[role].UID)
	for _, key := range []string{role, namespace} {
		assert.Contains(t, string(a[key].JSON()), `"creationTimestamp":"2030-01-02T03:04:05Z"`)
		assert.Contains(t, string(later[key].JSON()), `"creationTimestamp":"2030-01-02T04:04:05Z"`)
	}
}

func TestKubernetesService(t *testing.T) {
	s := fresh(t, Config{Port: 7443, ServiceRanges: []netip.Prefix{netip.MustParsePrefix("10.8.0.0/16"), netip.MustParsePrefix("fd00::/112")}})
	all := every(t, s)
	for key, want := range map[string]string{
		"/services/default/kubernetes":                        `"port":443,"targetPort":7443}],"clusterIP":"10.8.0.1","clusterIPs":["10.8.0.1"]`,
		"/endpoints/default/kubernetes":                       `"port":7443`,
		"/endpointslices.discovery.k8s.io/default/kubernetes": `"kubernetes.io/service-name":"kubernetes"`,
		"/ipaddresses.networking.k8s.io/10.8.0.1":             `"parentRef":{"resource":"services","namespace":"default","name":"kubernetes"}`,
		"/servicecidrs.networking.k8s.io/kubernetes":          `"cidrs":["10.8.0.0/16","fd00::/112"]`,
	} {
		if assert.Contains(t, all, key) {
			assert.Contains(t, string(all[key].JSON()), want)
		}
	}
	assert.Equal(t, storage.JoinFields([]string{"10.8.0.1", "ClusterIP"}), all["/services/default/kubernetes"].Fields)
}

func TestAdvertiseAddress(t *testing.T) {
	for address, want := range map[string]string{"203.0.113.9": "203.0.113.9", "127.0.0.1": "192.0.2.1"} {
		all := every(t, fresh(t, Config{AdvertiseAddress: netip.MustParseAddr(address)}))
		assert.Contains(t, string(all["/endpoints/default/kubernetes"].JSON()), `"addresses":[{"ip":"`+want+`"}]`)
		assert.Contains(t, string(all["/endpointslices.discovery.k8s.io/default/kubernetes"].JSON()), `"addresses":["`+want+`"]`)
	}
	newest, err := release.Open("")
	require.NoError(t, err)
	_, err = New(Config{Context: t.Context(), Release: newest, Clock: clock.New(), AdvertiseAddress: netip.MustParseAddr("2001:db8::9")})
	assert.EqualError(t, err, `service IP family "10.0.0.0/24" must match public address family "2001:db8::9"`)
}
