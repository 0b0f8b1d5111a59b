package allocator

import (
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// A mapStore holds objects by key.
type mapStore map[string]*storage.Object

func (s mapStore) Newest(key string) *storage.Object { return s[key] }

func (s mapStore) All(prefix string) iter.Seq[*storage.Object] {
	return func(yield func(*storage.Object) bool) {
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if strings.HasPrefix(key, prefix) && !yield(s[key]) {
				return
			}
		}
	}
}

func (s mapStore) put(t *testing.T, typ *resource.Type, body string) *storage.Object {
	o := newObject(t, typ, body)
	s[typ.Key(o.Namespace, o.Name)] = o
	return o
}

func newObject(t *testing.T, typ *resource.Type, body string) *storage.Object {
	obj, _, err := typ.Codec.Decode([]byte(body), false)
	require.NoError(t, err)
	return storage.New(typ, obj, nil)
}

// newAllocator returns an allocator whose random numbers are 0. Its ServiceCIDRs
// are a: 10.0.0.0/29, b: 10.1.0.0/29 (not ready) and c: fd00::/125.
func newAllocator(t *testing.T, store mapStore) *Allocator {
	r, err := release.Open("")
	require.NoError(t, err)
	types := resource.NewTypes(kinds.Types(r))
	const networking = "networking.k8s.io"
	a := New(Config{
		Services: types.Lookup("", "v1", "services"), Endpoints: types.Lookup("", "v1", "endpoints"),
		IPAddresses: types.Lookup(networking, "v1", "ipaddresses"), ServiceCIDRs: types.Lookup(networking, "v1", "servicecidrs"),
		Store:  store,
		Random: func(uint64) uint64 { return 0 },
		NewObject: func(t *resource.Type, obj map[string]any) *storage.Object {
			object.Meta(obj)["uid"] = "uid"
			return storage.New(t, obj, nil)
		},
	})
	store.put(t, a.ServiceCIDRs, `{"metadata":{"name":"a","uid":"1"},"spec":{"cidrs":["10.0.0.0/29"]}}`)
	store.put(t, a.ServiceCIDRs, `{"metadata":{"name":"b","uid":"2"},"spec":{"cidrs":["10.1.0.0/29"]},"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
	store.put(t, a.ServiceCIDRs, `{"metadata":{"name":"c","uid":"3"},"spec":{"cidrs":["fd00::/125"]},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	return a
}

func TestIP(t *testing.T) {
	for _, tt := range []struct {
		name, family, ip string
		dryRun           bool
		want, err        string
	}{
		{"any", "IPv4", "", false, "10.0.0.2", ""},
		{"any of IPv6", "IPv6", "", false, "fd00::1", ""},
		{"requested", "IPv4", "10.0.0.5", false, "10.0.0.5", ""},
		{"allocated", "IPv4", "10.0.0.1", false, "", "provided IP is already allocated"},
		{"network address", "IPv4", "10.0.0.0", false, "", "the provided network does not match the current range"},
		{"range that is not ready", "IPv4", "10.1.0.1", false, "", "the provided network does not match the current range"},
		{"dry run", "IPv4", "", true, "10.0.0.0", ""},
		{"dry run, requested", "IPv4", "10.0.0.1", true, "10.0.0.1", ""},
		{"dry run, other network", "IPv4", "10.2.0.1", true, "", "the provided IP (10.2.0.1) is not in the valid range. The range of valid IPs is 10.0.0.0/29"},
		{"dry run, range that is not ready", "IPv4", "10.1.0.1", true, "", "allocator not ready"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := mapStore{}
			a := newAllocator(t, store)
			store.put(t, a.IPAddresses, `{"metadata":{"name":"10.0.0.1","uid":"4"}}`)
			got, err := a.Pool(&Reservation{}, "ns", "s", tt.dryRun, nil).IP(tt.family, tt.ip)
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestIPWithoutServiceCIDRs(t *testing.T) {
	store := mapStore{}
	a := newAllocator(t, store)
	a.ServiceCIDRs, a.IPAddresses = nil, nil
	a.Ranges = []netip.Prefix{netip.MustParsePrefix("10.3.0.0/29")}
	store.put(t, a.Services, `{"metadata":{"name":"s","namespace":"ns","uid":"1"},"spec":{"type":"ClusterIP","clusterIP":"10.3.0.1","clusterIPs":["10.3.0.1"]}}`)
	pool := a.Pool(&Reservation{}, "ns", "t", false, nil)
	assert.Equal(t, []string{"IPv4"}, pool.Families())
	got, err := pool.IP("IPv4", "")
	assert.NoError(t, err)
	assert.Equal(t, "10.3.0.2", got)
}

func TestReservation(t *testing.T) {
	a := newAllocator(t, mapStore{})
	var first, second Reservation
	assert.True(t, a.ReserveIPs(&first, []string{"10.0.0.1", "10.0.0.2"}))
	assert.False(t, a.ReserveIPs(&second, []string{"10.0.0.2"}))
	_, err := a.Pool(&second, "ns", "s", false, nil).IP("IPv4", "10.0.0.2")
	assert.EqualError(t, err, "provided IP is already allocated")
	first.Release()
	first.Release()
	assert.True(t, a.ReserveIPs(&second, []string{"10.0.0.2"}))
	second.Release()
	assert.Empty(t, a.reserved)

	for range 6 {
		_, err := a.Pool(&first, "ns", "s", false, nil).IP("IPv4", "")
		require.NoError(t, err)
	}
	_, err = a.Pool(&first, "ns", "s", false, nil).IP("IPv4", "")
	assert.ErrorIs(t, err, resource.ErrFull)
}

func TestPort(t *testing.T) {
	store := mapStore{}
	a := newAllocator(t, store)
	store.put(t, a.Services, `{"metadata":{"name":"s","namespace":"ns","uid":"1"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30086}]}}`)
	for _, tt := range []struct {
		name   string
		port   int64
		dryRun bool
		want   int64
		err    string
	}{
		{"any", 0, false, 30087, ""},
		{"requested", 30000, false, 30000, ""},
		{"allocated", 30086, false, 0, "provided port is already allocated"},
		{"below the range", 29999, false, 0, "provided port is not in the valid range. The range of valid ports is 30000-32767"},
		{"dry run", 0, true, 32769, ""},
		{"dry run, requested outside of the range", 80, true, 80, ""},
		{"dry run, allocated", 30086, true, 0, "provided port is already allocated"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r Reservation
			defer r.Release()
			got, err := a.Pool(&r, "ns", "t", tt.dryRun, nil).Port(tt.port)
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
	pool := a.Pool(&Reservation{}, "ns", "t", true, nil)
	for _, want := range []int64{32769, 32770} {
		got, err := pool.Port(0)
		assert.NoError(t, err)
		assert.Equal(t, want, got, "ports of one dry run differ")
	}
}

func TestPortRange(t *testing.T) {
	tests := []struct {
		name    string
		ports   PortRange
		dynamic int // the first of the ports that are allocated first
		err     string
	}{
		{"default", defaultNodePorts, 30086, ""},
		{"one port", PortRange{80, 80}, 80, ""},
		{"small", PortRange{80, 95}, 80, ""},
		{"larger", PortRange{80, 96}, 96, ""},
		{"of 1024 ports", PortRange{1, 1024}, 33, ""},
		{"all", PortRange{1, 65535}, 129, ""},
		{"reversed", PortRange{2, 1}, 0, "2-1 is not a range of node ports"},
		{"beyond the last port", PortRange{1, 65536}, 0, "1-65536 is not a range of node ports"},
		{"zero", PortRange{0, 10}, 0, "0-10 is not a range of node ports"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.err != "" {
				assert.EqualError(t, tt.ports.Check(), tt.err)
				return
			}
			require.NoError(t, tt.ports.Check())
			assert.Equal(t, tt.dynamic, tt.ports.dynamic())
		})
	}
	a := newAllocator(t, mapStore{})
	a.NodePorts = PortRange{80, 97}
	pool, got := a.Pool(&Reservation{}, "ns", "s", false, nil), []int64(nil)
	for range 18 {
		port, err := pool.Port(0)
		require.NoError(t, err)
		got = append(got, port)
	}
	assert.ElementsMatch(t, []int64{96, 97}, got[:2], "before those that clients choose")
	_, err := pool.Port(0)
	assert.ErrorIs(t, err, resource.ErrFull)
	_, err = pool.Port(98)
	assert.EqualError(t, err, "provided port is not in the valid range. The range of valid ports is 80-97")
}

func TestSideEffects(t *testing.T) {
	a := newAllocator(t, mapStore{})
	store := storage.NewStore(clock.New(), storage.Limits{})
	service := func(ip string) *storage.Object {
		return newObject(t, a.Services, `{"metadata":{"name":"s","namespace":"ns","uid":"1"},"spec":{"type":"ClusterIP","clusterIP":"`+ip+`","clusterIPs":["`+ip+`"]}}`)
	}
	apply := func(old, next *storage.Object) {
		_, err := store.Update(func(tx storage.Txn) error {
			effects := a.SideEffects(a.Services, old, next)
			effects.Allocate(tx)
			effects.Release(tx)
			return nil
		})
		require.NoError(t, err)
	}
	ips := func() (names []string) {
		for o := range store.All(a.IPAddresses.Prefix) {
			names = append(names, o.Name)
		}
		return names
	}
	first, second := service("10.0.0.1"), service("10.0.0.2")
	apply(nil, first)
	assert.Equal(t, []string{"10.0.0.1"}, ips())
	apply(first, second)
	assert.Equal(t, []string{"10.0.0.2"}, ips())
	o := store.Newest(a.IPAddresses.Key("", "10.0.0.2"))
	assert.Equal(t, map[string]string{"ipaddress.kubernetes.io/ip-family": "IPv4", "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}, o.Labels)
	assert.Contains(t, string(o.JSON()), `"parentRef":{"resource":"services","namespace":"ns","name":"s"}`)

	endpoints := newObject(t, a.Endpoints, `{"metadata":{"name":"s","namespace":"ns","uid":"2"}}`)
	_, err := store.Update(func(tx storage.Txn) error {
		tx.Put(a.Endpoints.Key("ns", "s"), endpoints.At(tx.Revision()))
		return nil
	})
	require.NoError(t, err)
	apply(second, nil)
	assert.Empty(t, ips())
	assert.Nil(t, store.Newest(a.Endpoints.Key("ns", "s")))
}
