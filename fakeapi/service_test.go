package fakeapi_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

const (
	servicesPath  = "/api/v1/namespaces/default/services"
	addressesPath = "/apis/networking.k8s.io/v1/ipaddresses"
)

// service is the body of a service with more in its specification.
func service(name, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"ports":[{"port":80}]%s}}`, name, more)
}

// specOf is the specification of an answer.
func specOf(t testing.TB, obj fakeapi.Object) map[string]any {
	t.Helper()
	spec, ok := obj["spec"].(map[string]any)
	require.True(t, ok, "no specification: %v", obj)
	return spec
}

func TestClusterIPs(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithSeed(1))
	code, a := do(t, srv, "POST", servicesPath, service("a", ""))
	require.Equal(t, 201, code)
	ip, _ := specOf(t, a)["clusterIP"].(string)
	assert.True(t, netip.MustParsePrefix("10.0.0.0/24").Contains(netip.MustParseAddr(ip)), ip)
	code, address := do(t, srv, "GET", addressesPath+"/"+ip, "")
	require.Equal(t, 200, code)
	assert.Equal(t, map[string]any{"resource": "services", "namespace": "default", "name": "a"}, specOf(t, address)["parentRef"])

	taken := service("b", fmt.Sprintf(`,"clusterIP":%q`, ip))
	code, st := do(t, srv, "POST", servicesPath, taken)
	require.Equal(t, 422, code)
	assert.Equal(t, fmt.Sprintf(`Service "b" is invalid: spec.clusterIPs: Invalid value: [%q]: failed to allocate IP %s: provided IP is already allocated`, ip, ip), st["message"])

	child := srv.Fork(t)
	code, _ = do(t, child, "POST", servicesPath, taken)
	assert.Equal(t, 422, code, "a fork knows what is taken")

	code, _ = do(t, srv, "DELETE", servicesPath+"/a", "")
	require.Equal(t, 200, code)
	code, _ = do(t, srv, "GET", addressesPath+"/"+ip, "")
	assert.Equal(t, 404, code)
	code, _ = do(t, srv, "POST", servicesPath, taken)
	assert.Equal(t, 201, code, "a deletion gives back")

	code, st = do(t, srv, "POST", servicesPath, service("c", `,"clusterIP":"192.168.9.9"`))
	assert.Equal(t, 422, code)
	assert.Contains(t, st["message"], "failed to allocate IP 192.168.9.9: the provided network does not match the current range")
}

func TestClusterIPsRunOut(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithServiceRanges(netip.MustParsePrefix("10.9.0.0/30"), netip.MustParsePrefix("fd00::/112")))
	before := srv.Revision()
	code, dry := do(t, srv, "POST", servicesPath+"?dryRun=All", service("a", ""))
	require.Equal(t, 201, code)
	assert.Equal(t, "10.9.0.0", specOf(t, dry)["clusterIP"])
	assert.Equal(t, before, srv.Revision(), "a dry run takes nothing")

	seen := map[any]bool{}
	for i := range 2 {
		code, obj := do(t, srv, "POST", servicesPath, service(fmt.Sprint("s", i), ""))
		require.Equal(t, 201, code)
		seen[specOf(t, obj)["clusterIP"]] = true
	}
	assert.Equal(t, map[any]bool{"10.9.0.1": true, "10.9.0.2": true}, seen)
	code, st := do(t, srv, "POST", servicesPath, service("full", ""))
	assert.Equal(t, 500, code)
	assert.Equal(t, `Internal error occurred: failed to allocate a serviceIP for Service "full": range is full`, st["message"])

	code, obj := do(t, srv, "POST", servicesPath, service("six", `,"ipFamilies":["IPv6"]`))
	require.Equal(t, 201, code)
	assert.Contains(t, specOf(t, obj)["clusterIP"], "fd00::")

	code, _ = do(t, srv, "PUT", servicesPath+"/s0", `{"metadata":{"name":"s0"},"spec":{"type":"ExternalName","externalName":"a.b"}}`)
	require.Equal(t, 200, code)
	code, _ = do(t, srv, "POST", servicesPath, service("next", ""))
	assert.Equal(t, 201, code, "a change of type gives back")
}

func TestNodePorts(t *testing.T) {
	srv := fakeapi.Start(t)
	nodePort := func(name string, port int) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":%d}]}}`, name, port)
	}
	code, _ := do(t, srv, "POST", servicesPath, nodePort("a", 30001))
	require.Equal(t, 201, code)
	for _, row := range []struct {
		name, path, body string
		code             int
		message          string
	}{
		{"taken", servicesPath, nodePort("b", 30001), 422, `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated`},
		{"taken by another port of the service", servicesPath, `{"metadata":{"name":"b"},"spec":{"type":"NodePort","ports":[{"name":"x","port":80,"nodePort":30002},{"name":"y","port":81,"protocol":"UDP","nodePort":30002}]}}`, 422,
			`Service "b" is invalid: spec.ports[1].nodePort: Invalid value: 30002: provided port is already allocated`},
		{"taken in a dry run", servicesPath + "?dryRun=All", nodePort("b", 30001), 422, `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated`},
		{"out of range", servicesPath, nodePort("b", 80), 422, `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767`},
		{"a taken port for health checks", servicesPath, `{"metadata":{"name":"b"},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30001,"ports":[{"port":80}]}}`, 500,
			"Internal error occurred: failed to allocate requested HealthCheck NodePort 30001: provided port is already allocated"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, st := do(t, srv, "POST", row.path, row.body)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.message, st["message"])
		})
	}
	code, _ = do(t, srv, "PUT", servicesPath+"/a", service("a", ""))
	require.Equal(t, 200, code)
	code, _ = do(t, srv, "POST", servicesPath, nodePort("b", 30001))
	assert.Equal(t, 201, code, "a change of type gives back")
	code, obj := do(t, srv, "POST", servicesPath, `{"metadata":{"name":"dns"},"spec":{"type":"NodePort","ports":[{"name":"t","port":53},{"name":"u","port":53,"protocol":"UDP"}]}}`)
	require.Equal(t, 201, code)
	ports, _ := specOf(t, obj)["ports"].([]any)
	require.Len(t, ports, 2)
	assert.Equal(t, ports[0].(map[string]any)["nodePort"], ports[1].(map[string]any)["nodePort"], "one for both protocols")
}

func TestDeletedServiceTakesItsEndpoints(t *testing.T) {
	srv := fakeapi.Start(t)
	code, _ := do(t, srv, "POST", servicesPath, service("a", ""))
	require.Equal(t, 201, code)
	code, _ = do(t, srv, "POST", "/api/v1/namespaces/default/endpoints", `{"metadata":{"name":"a"}}`)
	require.Equal(t, 201, code)
	code, _ = do(t, srv, "DELETE", servicesPath+"/a", "")
	require.Equal(t, 200, code)
	code, _ = do(t, srv, "GET", "/api/v1/namespaces/default/endpoints/a", "")
	assert.Equal(t, 404, code)
}
