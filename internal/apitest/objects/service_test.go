package objects_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

const (
	servicesPath  = "/api/v1/namespaces/default/services"
	addressesPath = "/apis/networking.k8s.io/v1/ipaddresses"
)

// service returns the body of a Service. more is added to its spec.
func service(name, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"ports":[{"port":80}]%s}}`, name, more)
}

// specOf returns the spec of an object.
func specOf(t testing.TB, obj fakeapi.Object) map[string]any {
	t.Helper()
	spec, ok := obj["spec"].(map[string]any)
	require.True(t, ok, "no spec: %v", obj)
	return spec
}

func TestClusterIPs(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithSeed(1))
	code, a := apitest.Do(t, srv, "POST", servicesPath, service("a", ""))
	require.Equal(t, 201, code)
	ip, _ := specOf(t, a)["clusterIP"].(string)
	assert.True(t, netip.MustParsePrefix("10.0.0.0/24").Contains(netip.MustParseAddr(ip)), ip)
	code, address := apitest.Do(t, srv, "GET", addressesPath+"/"+ip, "")
	require.Equal(t, 200, code)
	assert.Equal(t, map[string]any{"resource": "services", "namespace": "default", "name": "a"}, specOf(t, address)["parentRef"])

	allocated := service("b", fmt.Sprintf(`,"clusterIP":%q`, ip))
	code, st := apitest.Do(t, srv, "POST", servicesPath, allocated)
	require.Equal(t, 422, code)
	assert.Equal(t, fmt.Sprintf(`Service "b" is invalid: spec.clusterIPs: Invalid value: [%q]: failed to allocate IP %s: provided IP is already allocated`, ip, ip), st["message"])

	fork := srv.Fork(t)
	code, _ = apitest.Do(t, fork, "POST", servicesPath, allocated)
	assert.Equal(t, 422, code, "a fork has the allocations of its parent")

	code, _ = apitest.Do(t, srv, "DELETE", servicesPath+"/a", "")
	require.Equal(t, 200, code)
	code, _ = apitest.Do(t, srv, "GET", addressesPath+"/"+ip, "")
	assert.Equal(t, 404, code)
	code, _ = apitest.Do(t, srv, "POST", servicesPath, allocated)
	assert.Equal(t, 201, code, "a deletion releases the address")

	code, st = apitest.Do(t, srv, "POST", servicesPath, service("c", `,"clusterIP":"192.168.9.9"`))
	assert.Equal(t, 422, code)
	assert.Contains(t, st["message"], "failed to allocate IP 192.168.9.9: the provided network does not match the current range")
}

// The error of one cluster IP shows the addresses of both families, "" for any.
func TestDualStackAddressErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24"), netip.MustParsePrefix("fd00:9::/108")}}))
	code, st := apitest.Do(t, srv, "POST", servicesPath, service("a", `,"ipFamilyPolicy":"PreferDualStack","clusterIP":"192.168.9.9"`))
	assert.Equal(t, 422, code)
	assert.Equal(t, `Service "a" is invalid: spec.clusterIPs: Invalid value: ["192.168.9.9",""]: failed to allocate IP 192.168.9.9: the provided network does not match the current range`, st["message"])
}

// A Service that is written without HTTP has its address until it is deleted.
func TestClusterIPsOfFixtures(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: 10.0.0.7, type: ClusterIP, ports: [{port: 80}]}}`))
	code, address := apitest.Do(t, srv, "GET", addressesPath+"/10.0.0.7", "")
	require.Equal(t, 200, code)
	assert.Equal(t, map[string]any{"resource": "services", "namespace": "default", "name": "a"}, specOf(t, address)["parentRef"])
	code, _ = apitest.Do(t, srv, "POST", servicesPath, service("b", `,"clusterIP":"10.0.0.7"`))
	assert.Equal(t, 422, code)
	require.NoError(t, srv.Remove("services", "default", "a"))
	code, _ = apitest.Do(t, srv, "POST", servicesPath, service("b", `,"clusterIP":"10.0.0.7"`))
	assert.Equal(t, 201, code)
}

func TestClusterIPRangeIsFull(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/29"), netip.MustParsePrefix("fd00::/112")}}))
	before := srv.Revision()
	code, dry := apitest.Do(t, srv, "POST", servicesPath+"?dryRun=All", service("a", ""))
	require.Equal(t, 201, code)
	assert.Equal(t, "10.9.0.0", specOf(t, dry)["clusterIP"])
	assert.Equal(t, before, srv.Revision(), "a dry run allocates nothing")

	seen := map[any]bool{}
	for i := range 5 {
		code, obj := apitest.Do(t, srv, "POST", servicesPath, service(fmt.Sprint("s", i), ""))
		require.Equal(t, 201, code)
		seen[specOf(t, obj)["clusterIP"]] = true
	}
	assert.Equal(t, map[any]bool{"10.9.0.2": true, "10.9.0.3": true, "10.9.0.4": true, "10.9.0.5": true, "10.9.0.6": true}, seen, "the Service kubernetes has the first")
	code, st := apitest.Do(t, srv, "POST", servicesPath, service("full", ""))
	assert.Equal(t, 500, code)
	assert.Equal(t, `Internal error occurred: failed to allocate a serviceIP for Service "full": range is full`, st["message"])

	code, obj := apitest.Do(t, srv, "POST", servicesPath, service("six", `,"ipFamilies":["IPv6"]`))
	require.Equal(t, 201, code)
	assert.Contains(t, specOf(t, obj)["clusterIP"], "fd00::")

	code, _ = apitest.Do(t, srv, "PUT", servicesPath+"/s0", `{"metadata":{"name":"s0"},"spec":{"type":"ExternalName","externalName":"a.b"}}`)
	require.Equal(t, 200, code)
	code, _ = apitest.Do(t, srv, "POST", servicesPath, service("next", ""))
	assert.Equal(t, 201, code, "a change of type releases the address")
}

// Cluster IPs are allocated from the ServiceCIDRs that are ready and not being
// deleted.
func TestServiceCIDRs(t *testing.T) {
	const ranges = "/apis/networking.k8s.io/v1/servicecidrs"
	srv := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/29")}}))
	message := func(name, rest string) any {
		t.Helper()
		code, st := apitest.Do(t, srv, "POST", servicesPath+"?dryRun=All", service(name, rest))
		if code == 201 {
			return code
		}
		return st["message"]
	}
	refused := func(name, ip, detail string) string {
		return fmt.Sprintf(`Service %q is invalid: spec.clusterIPs: Invalid value: [%q]: failed to allocate IP %s: %s`, name, ip, ip, detail)
	}
	create := func(want int, name, ip, detail string) {
		t.Helper()
		code, st := apitest.Do(t, srv, "POST", servicesPath, service(name, fmt.Sprintf(`,"clusterIP":%q`, ip)))
		require.Equal(t, want, code, st["message"])
		if want != 201 {
			assert.Equal(t, refused(name, ip, detail), st["message"])
		}
	}
	const other = "the provided network does not match the current range"
	create(422, "a", "10.7.0.3", other)
	code, _ := apitest.Do(t, srv, "POST", ranges, `{"metadata":{"name":"more","finalizers":["example.com/keep"]},"spec":{"cidrs":["10.7.0.0/30"]}}`)
	require.Equal(t, 201, code)
	create(422, "a", "10.7.0.0", other)
	create(422, "a", "10.7.0.3", other)
	create(201, "a", "10.7.0.2", "")
	create(422, "b", "10.7.0.2", "provided IP is already allocated")
	create(422, "b", "10.9.0.1", "provided IP is already allocated")

	for i := range 6 {
		code, _ = apitest.Do(t, srv, "POST", servicesPath, service(fmt.Sprint("s", i), ""))
		require.Equal(t, 201, code, "five of one range and one of the other")
	}
	code, _ = apitest.Do(t, srv, "POST", servicesPath, service("full", ""))
	assert.Equal(t, 500, code)

	code, _ = apitest.Do(t, srv, "DELETE", servicesPath+"/a", "")
	require.Equal(t, 200, code)
	assert.Equal(t, 201, message("dry", `,"clusterIP":"10.7.0.2"`))
	assert.Equal(t, refused("dry", "10.6.0.2", "the provided IP (10.6.0.2) is not in the valid range. The range of valid IPs is 10.9.0.0/29"), message("dry", `,"clusterIP":"10.6.0.2"`))

	status := func(ready string) {
		t.Helper()
		code, _ := apitest.Do(t, srv, "PUT", ranges+"/more/status", `{"metadata":{"name":"more"},"status":{"conditions":[{"type":"Ready","status":"`+ready+`","lastTransitionTime":"2030-01-02T03:04:05Z","reason":"R","message":"m"}]}}`)
		require.Equal(t, 200, code)
	}
	status("False")
	create(422, "a", "10.7.0.2", other)
	assert.Equal(t, refused("dry", "10.7.0.2", "allocator not ready"), message("dry", `,"clusterIP":"10.7.0.2"`))
	code, _ = apitest.Do(t, srv, "POST", servicesPath, service("full", ""))
	assert.Equal(t, 500, code, "no address is allocated from a range that is not ready")
	status("True")
	create(201, "a", "10.7.0.2", "")
	code, _ = apitest.Do(t, srv, "DELETE", servicesPath+"/a", "")
	require.Equal(t, 200, code)

	code, _ = apitest.Do(t, srv, "DELETE", ranges+"/more", "")
	require.Equal(t, 200, code)
	create(422, "a", "10.7.0.2", other)

	code, _ = apitest.Do(t, srv, "DELETE", ranges+"/kubernetes", "")
	require.Equal(t, 200, code)
	assert.Equal(t, `Service "dry" is invalid: spec.clusterIPs: Invalid value: [""]: failed to allocate IP: allocator not ready`, message("dry", ""))
}

// The objects that kube-apiserver keeps exist again ten seconds after their
// deletion, also in a fork.
func TestBootstrapRepair(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
	kept := []string{
		servicesPath + "/kubernetes", "/api/v1/namespaces/default/endpoints/kubernetes", addressesPath + "/10.0.0.1",
		"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes",
	}
	codes := func(srv *fakeapi.Server) (out []int) {
		for _, path := range kept {
			code, _ := apitest.Do(t, srv, "GET", path, "")
			out = append(out, code)
		}
		return out
	}
	_, before := apitest.Do(t, srv, "GET", kept[0], "")
	for _, i := range []int{0, 1, 3, 4} {
		code, _ := apitest.Do(t, srv, "DELETE", kept[i], "")
		require.Equal(t, 200, code)
	}
	gone := []int{404, 404, 404, 404, 404}
	assert.Equal(t, gone, codes(srv), "the IPAddress is deleted with the Service")
	fork, late := srv.Fork(t), srv.Fork(t)
	srv.Clock().Advance(9 * time.Second)
	assert.Equal(t, gone, codes(srv))
	srv.Clock().Advance(time.Second)
	back := []int{200, 200, 200, 200, 200}
	assert.Equal(t, back, codes(srv))
	_, after := apitest.Do(t, srv, "GET", kept[0], "")
	assert.Equal(t, specOf(t, before), specOf(t, after))
	assert.NotEqual(t, before["metadata"].(map[string]any)["uid"], after["metadata"].(map[string]any)["uid"])

	revision := srv.Revision()
	srv.Clock().Advance(time.Hour)
	assert.Equal(t, revision, srv.Revision(), "no object is missing")

	assert.Equal(t, gone, codes(fork))
	fork.Clock().Advance(10 * time.Second)
	assert.Equal(t, back, codes(fork))

	code, _ := apitest.Do(t, late, "POST", "/apis/networking.k8s.io/v1/servicecidrs", `{"metadata":{"name":"mine"},"spec":{"cidrs":["10.0.0.0/24"]}}`)
	require.Equal(t, 201, code)
	code, _ = apitest.Do(t, late, "POST", servicesPath, service("other", `,"clusterIP":"10.0.0.1"`))
	require.Equal(t, 201, code)
	late.Clock().Advance(10 * time.Second)
	code, _ = apitest.Do(t, late, "GET", kept[0], "")
	assert.Equal(t, 404, code, "another service has its address")

	require.NoError(t, srv.Remove("services", "default", "kubernetes"))
	srv.Clock().Advance(10 * time.Second)
	code, _ = apitest.Do(t, srv, "GET", kept[0], "")
	assert.Equal(t, 200, code, "also after a deletion without HTTP")
}

// In a release without ServiceCIDRs and IPAddresses the Services have the record of
// what is allocated.
func TestClusterIPsOfOldRelease(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRelease("v1.32"), fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/29")}}))
	for i := range 5 {
		code, _ := apitest.Do(t, srv, "POST", servicesPath, service(fmt.Sprint("s", i), ""))
		require.Equal(t, 201, code)
	}
	code, _ := apitest.Do(t, srv, "POST", servicesPath, service("full", ""))
	assert.Equal(t, 500, code)
	code, st := apitest.Do(t, srv, "POST", servicesPath, service("allocated", `,"clusterIP":"10.9.0.1"`))
	assert.Equal(t, 422, code)
	assert.Contains(t, st["message"], "provided IP is already allocated")
}

// The targetPort of the Service kubernetes is the configured port of the server.
func TestPortOfServer(t *testing.T) {
	for addr, want := range map[string]float64{"": 6443, "127.0.0.1:0": 6443, "127.0.0.1:7443": 7443} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAddress(addr))
		code, obj := apitest.Do(t, srv, "GET", servicesPath+"/kubernetes", "")
		require.Equal(t, 200, code)
		ports, _ := specOf(t, obj)["ports"].([]any)
		require.Len(t, ports, 1)
		assert.Equal(t, want, ports[0].(map[string]any)["targetPort"], addr)
	}
}

func TestNodePorts(t *testing.T) {
	srv := fakeapi.Start(t)
	nodePort := func(name string, port int) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":%d}]}}`, name, port)
	}
	code, _ := apitest.Do(t, srv, "POST", servicesPath, nodePort("a", 30001))
	require.Equal(t, 201, code)
	for _, row := range []struct {
		name, path, body string
		code             int
		message          string
	}{
		{"allocated", servicesPath, nodePort("b", 30001), 422, `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated`},
		{"allocated by another port of the Service", servicesPath, `{"metadata":{"name":"b"},"spec":{"type":"NodePort","ports":[{"name":"x","port":80,"nodePort":30002},{"name":"y","port":81,"protocol":"UDP","nodePort":30002}]}}`, 422,
			`Service "b" is invalid: spec.ports[1].nodePort: Invalid value: 30002: provided port is already allocated`},
		{"allocated, in a dry run", servicesPath + "?dryRun=All", nodePort("b", 30001), 422, `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated`},
		{"out of range", servicesPath, nodePort("b", 80), 422, `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767`},
		{"allocated, as a health check port", servicesPath, `{"metadata":{"name":"b"},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30001,"ports":[{"port":80}]}}`, 500,
			"Internal error occurred: failed to allocate requested HealthCheck NodePort 30001: provided port is already allocated"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, st := apitest.Do(t, srv, "POST", row.path, row.body)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.message, st["message"])
		})
	}
	code, _ = apitest.Do(t, srv, "PUT", servicesPath+"/a", service("a", ""))
	require.Equal(t, 200, code)
	code, _ = apitest.Do(t, srv, "POST", servicesPath, nodePort("b", 30001))
	assert.Equal(t, 201, code, "a change of type releases the port")
	code, obj := apitest.Do(t, srv, "POST", servicesPath, `{"metadata":{"name":"dns"},"spec":{"type":"NodePort","ports":[{"name":"t","port":53},{"name":"u","port":53,"protocol":"UDP"}]}}`)
	require.Equal(t, 201, code)
	ports, _ := specOf(t, obj)["ports"].([]any)
	require.Len(t, ports, 2)
	assert.Equal(t, ports[0].(map[string]any)["nodePort"], ports[1].(map[string]any)["nodePort"], "both protocols share a node port")
}

// The deletion of a Service deletes its Endpoints until v1.36.
func TestServiceDeletionDeletesEndpoints(t *testing.T) {
	for release, want := range map[string]int{"v1.36": 404, "v1.37": 200} {
		srv := fakeapi.Start(t, fakeapi.WithRelease(release))
		code, _ := apitest.Do(t, srv, "POST", servicesPath, service("a", ""))
		require.Equal(t, 201, code)
		code, _ = apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/endpoints", `{"metadata":{"name":"a"}}`)
		require.Equal(t, 201, code)
		code, _ = apitest.Do(t, srv, "DELETE", servicesPath+"/a", "")
		require.Equal(t, 200, code)
		code, _ = apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/endpoints/a", "")
		assert.Equal(t, want, code, release)
	}
}

// An object whose namespace does not exist can be updated since v1.37.
func TestUpdateWithoutNamespace(t *testing.T) {
	const path = "/api/v1/namespaces/n/configmaps/a"
	for release, want := range map[string]int{"v1.36": 404, "v1.37": 200} {
		srv := fakeapi.Start(t, fakeapi.WithRelease(release), fakeapi.WithObjects(
			`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`))
		code, _ := apitest.Do(t, srv, "POST", "/api/v1/namespaces/n/configmaps", `{"metadata":{"name":"a"}}`)
		require.Equal(t, 201, code)
		require.NoError(t, srv.Remove("namespaces", "", "n"))
		code, answer := apitest.DoWithHeaders(t, srv, "PATCH", path, `{"data":{"k":"v"}}`, "Content-Type", "application/merge-patch+json")
		assert.Equal(t, want, code, "%s: %v", release, answer["message"])
	}
}
