package controllers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func startEndpoints(t *testing.T) cluster {
	return startCluster(t, "endpoints-controller,endpointslice-controller,scheduler,kubelet")
}

func webPod(name, ports string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: web}}, spec: {containers: [{name: c, image: i, ports: [%s]}]}}`, name, ports)
}

func webService(spec string) string {
	return `{apiVersion: v1, kind: Service, metadata: {name: web, labels: {team: a}}, spec: {` + spec + `}}`
}

func endpointSlices(c cluster) (out []map[string]any) {
	list := c.List("endpointslices.discovery.k8s.io", "")
	for _, s := range list {
		if object.String(s, "metadata", "labels", "kubernetes.io/service-name") == "web" {
			out = append(out, s)
		}
	}
	return out
}

func TestEndpointsReadyAndNotReady(t *testing.T) {
	t.Parallel()
	c := startEndpoints(t)
	require.NoError(t, c.Kubelet().Pods("app=web").In("none").Hang())
	c.Create(servicesPath, webService(`selector: {app: web}, ports: [{port: 80, targetPort: http}]`))
	c.Settle()
	require.Len(t, endpointSlices(c), 1, "an empty slice")
	assert.Empty(t, object.List(endpointSlices(c)[0], "endpoints"))
	assert.Empty(t, object.List(c.Get("endpoints", "default", "web"), "subsets"))

	c.Create(podsPath, webPod("a", "{name: http, containerPort: 8080}")+"\n---\n"+webPod("b", "{name: http, containerPort: 9090}"))
	c.Settle()
	all := endpointSlices(c)
	require.Len(t, all, 2, "one for each set of ports")
	for i, port := range []int64{8080, 9090} {
		_ = i
		found := false
		for _, s := range all {
			p := object.List(s, "ports")[0].(map[string]any)
			if p["port"] == port {
				found = true
				e := object.List(s, "endpoints")[0].(map[string]any)
				assert.Equal(t, map[string]any{"ready": true, "serving": true, "terminating": false}, e["conditions"])
				assert.Equal(t, "node-1", e["nodeName"])
				assert.Equal(t, "endpointslice-controller.k8s.io", object.String(s, "metadata", "labels", "endpointslice.kubernetes.io/managed-by"))
				assert.Equal(t, "a", object.String(s, "metadata", "labels", "team"))
				assert.Equal(t, "Service", object.String(object.List(s, "metadata", "ownerReferences")[0].(map[string]any), "kind"))
			}
		}
		assert.True(t, found, "%d", port)
	}
	assert.Len(t, object.List(c.Get("endpoints", "default", "web"), "subsets"), 2)

	require.NoError(t, c.Kubelet().Pods("app=web").Hang())
	c.Settle()
	subset := object.List(c.Get("endpoints", "default", "web"), "subsets")[0].(map[string]any)
	assert.Empty(t, subset["addresses"])
	assert.Len(t, subset["notReadyAddresses"], 1)
	e := object.List(endpointSlices(c)[0], "endpoints")[0].(map[string]any)
	assert.Equal(t, map[string]any{"ready": false, "serving": false, "terminating": false}, e["conditions"])

	c.Delete(podsPath + "/a?gracePeriodSeconds=0")
	c.Delete(podsPath + "/b?gracePeriodSeconds=0")
	c.Settle()
	require.Len(t, endpointSlices(c), 1)
	assert.Empty(t, object.List(endpointSlices(c)[0], "endpoints"))
	c.Delete(servicesPath + "/web")
	c.Settle()
	assert.Nil(t, c.Get("endpoints", "default", "web"))
}

// A slice has a hundred endpoints.
func TestEndpointsMany(t *testing.T) {
	t.Parallel()
	c := startEndpoints(t)
	c.Create(servicesPath, webService(`selector: {app: web}, ports: [{port: 80}]`))
	for i := range 101 {
		c.Create(podsPath, webPod(fmt.Sprintf("p%d", i), ""))
	}
	c.Settle()
	n := 0
	for _, s := range endpointSlices(c) {
		n += len(object.List(s, "endpoints"))
		assert.LessOrEqual(t, len(object.List(s, "endpoints")), 100)
	}
	assert.Len(t, endpointSlices(c), 2)
	assert.Equal(t, 101, n)
}

// Services without a selector, and those of other names, are left alone.
func TestEndpointsUnmanaged(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{
		"no selector": `ports: [{port: 80}]`, "external name": `type: ExternalName, externalName: example.com, selector: {app: web}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := startEndpoints(t)
			c.Create(servicesPath, webService(spec))
			c.Create(podsPath, webPod("a", ""))
			c.Settle()
			assert.Empty(t, endpointSlices(c))
			assert.Nil(t, c.Get("endpoints", "default", "web"))
		})
	}
}

func TestEndpointsHeadless(t *testing.T) {
	t.Parallel()
	c := startEndpoints(t)
	c.Create(servicesPath, webService(`clusterIP: None, selector: {app: web}`))
	c.Create(podsPath, `{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: web}}, spec: {hostname: h, subdomain: web, containers: [{name: c, image: i}]}}`)
	c.Settle()
	s := endpointSlices(c)[0]
	e := object.List(s, "endpoints")[0].(map[string]any)
	assert.Equal(t, "h", e["hostname"])
	assert.Empty(t, object.List(s, "ports"))
	labels := object.Map(s, "metadata", "labels")
	assert.Contains(t, labels, "service.kubernetes.io/headless")
	subset := object.List(c.Get("endpoints", "default", "web"), "subsets")[0].(map[string]any)
	assert.Len(t, subset["addresses"], 1)
}
