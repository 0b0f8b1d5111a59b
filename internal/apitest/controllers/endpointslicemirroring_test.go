package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

// mirroredSlices returns the slices as "TYPE PORTS: ADDRESS...", an address that is not ready
// with an exclamation mark.
func mirroredSlices(c cluster) (out []string) {
	for _, s := range c.List("endpointslices", "") {
		if object.String(s, "metadata", "labels", "endpointslice.kubernetes.io/managed-by") != "endpointslicemirroring-controller.k8s.io" {
			continue
		}
		line := object.String(s, "addressType")
		for p := range object.Each(s["ports"]) {
			line += fmt.Sprintf(" %v/%v", p["name"], p["port"])
		}
		line += ":"
		for e := range object.Each(s["endpoints"]) {
			line += " " + object.List(e, "addresses")[0].(string)
			if !object.Bool(e, "conditions", "ready") {
				line += "!"
			}
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func startMirroring(t *testing.T, service, endpoints string) cluster {
	c := startCluster(t, "endpointslice-mirroring-controller")
	c.Put(`{apiVersion: v1, kind: Service, metadata: {name: db, namespace: default}, spec: {ports: [{port: 80}]` + service + `}}`)
	c.Put(`{apiVersion: v1, kind: Endpoints, metadata: {name: db, namespace: default` + endpoints + `}, subsets: [
  {addresses: [{ip: 192.0.2.1}, {ip: "2001:db8::1"}], notReadyAddresses: [{ip: 192.0.2.2}], ports: [{name: a, port: 80}]},
  {addresses: [{ip: 192.0.2.3}], ports: [{port: 81}]}]}`)
	c.Settle()
	return c
}

func TestEndpointSliceMirroring(t *testing.T) {
	t.Parallel()
	want := []string{"IPv4 /81: 192.0.2.3", "IPv4 a/80: 192.0.2.1 192.0.2.2!", "IPv6 a/80: 2001:db8::1"}
	for _, row := range []struct {
		name, service, endpoints string
		want                     []string
	}{
		{"without a selector", "", `, labels: {a: b}, annotations: {x: "1"}`, want},
		{"with a selector", ", selector: {app: db}", "", nil},
		{"skipped", "", `, labels: {endpointslice.kubernetes.io/skip-mirror: "true"}`, nil},
		{"leader election", "", `, annotations: {control-plane.alpha.kubernetes.io/leader: "{}"}`, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startMirroring(t, row.service, row.endpoints)
			assert.Equal(t, row.want, mirroredSlices(c))
			before := c.Revision()
			c.MergePatch(servicesPath+"/db", `{"metadata":{"labels":{"x":"y"}}}`)
			c.Settle()
			assert.Equal(t, before+1, c.Revision(), "nothing changes")
		})
	}
}

// Slices follow their Endpoints, and keep their names where they can.
func TestEndpointSliceMirroringChange(t *testing.T) {
	t.Parallel()
	c := startMirroring(t, "", ", labels: {a: b}")
	names := strings.Join(c.Names("endpointslices"), " ")
	c.MergePatch("/api/v1/namespaces/default/endpoints/db", `{"metadata":{"labels":{"a":null}},"subsets":[{"addresses":[{"ip":"192.0.2.9"}],"ports":[{"port":82}]}]}`)
	c.Settle()
	assert.Equal(t, []string{"IPv4 /82: 192.0.2.9"}, mirroredSlices(c))
	assert.Contains(t, names, c.Names("endpointslices")[0])
	c.MergePatch(servicesPath+"/db", `{"spec":{"selector":{"app":"db"}}}`)
	c.Settle()
	assert.Empty(t, mirroredSlices(c))
}
