package endpointslicemirroring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

// mirrors returns the slices as "TYPE PORTS: ADDRESS...", an address that is not ready
// with an exclamation mark.
func mirrors(t *testing.T, c controllertest.Cluster) (out []string) {
	list, err := c.List("endpointslices", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
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

func start(t *testing.T, service, endpoints string) controllertest.Cluster {
	c := controllertest.StartCluster(t, "endpointslice-mirroring-controller")
	c.Put(`{apiVersion: v1, kind: Service, metadata: {name: db, namespace: default}, spec: {ports: [{port: 80}]` + service + `}}`)
	c.Put(`{apiVersion: v1, kind: Endpoints, metadata: {name: db, namespace: default` + endpoints + `}, subsets: [
  {addresses: [{ip: 192.0.2.1}, {ip: "2001:db8::1"}], notReadyAddresses: [{ip: 192.0.2.2}], ports: [{name: a, port: 80}]},
  {addresses: [{ip: 192.0.2.3}], ports: [{port: 81}]}]}`)
	c.Settle(0)
	return c
}

func TestMirror(t *testing.T) {
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
			c := start(t, row.service, row.endpoints)
			assert.Equal(t, row.want, mirrors(t, c))
			before := c.Revision()
			c.MergePatch("/api/v1/namespaces/default/services/db", `{"metadata":{"labels":{"x":"y"}}}`)
			c.Settle(0)
			assert.Equal(t, before+1, c.Revision(), "nothing changes")
		})
	}
}

// Slices follow their Endpoints, and keep their names where they can.
func TestChange(t *testing.T) {
	c := start(t, "", ", labels: {a: b}")
	names := strings.Join(controllertest.Names(t, c.Server, "endpointslices"), " ")
	c.MergePatch("/api/v1/namespaces/default/endpoints/db", `{"metadata":{"labels":{"a":null}},"subsets":[{"addresses":[{"ip":"192.0.2.9"}],"ports":[{"port":82}]}]}`)
	c.Settle(0)
	assert.Equal(t, []string{"IPv4 /82: 192.0.2.9"}, mirrors(t, c))
	assert.Contains(t, names, controllertest.Names(t, c.Server, "endpointslices")[0])
	c.MergePatch("/api/v1/namespaces/default/services/db", `{"spec":{"selector":{"app":"db"}}}`)
	c.Settle(0)
	assert.Empty(t, mirrors(t, c))
}
