package endpoints_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	podsPath     = "/api/v1/namespaces/default/pods"
	servicesPath = "/api/v1/namespaces/default/services"
)

func start(t *testing.T) controllertest.Cluster {
	return controllertest.StartCluster(t, "endpoints-controller,endpointslice-controller,scheduler,kubelet")
}

func pod(name, ports string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: web}}, spec: {containers: [{name: c, image: i, ports: [%s]}]}}`, name, ports)
}

func service(spec string) string {
	return `{apiVersion: v1, kind: Service, metadata: {name: web, labels: {team: a}}, spec: {` + spec + `}}`
}

func slices(t *testing.T, c controllertest.Cluster) (out []map[string]any) {
	list, err := c.List("endpointslices.discovery.k8s.io", "")
	require.NoError(t, err)
	for _, s := range list {
		if object.String(s, "metadata", "labels", "kubernetes.io/service-name") == "web" {
			out = append(out, s)
		}
	}
	return out
}

func TestReadyAndNotReady(t *testing.T) {
	c := start(t)
	require.NoError(t, c.Kubelet().Pods("app=web").In("none").Hang())
	c.Create(servicesPath, service(`selector: {app: web}, ports: [{port: 80, targetPort: http}]`))
	c.Settle(0)
	require.Len(t, slices(t, c), 1, "an empty slice")
	assert.Empty(t, object.List(slices(t, c)[0], "endpoints"))
	assert.Empty(t, object.List(c.Get("endpoints", "default", "web"), "subsets"))

	c.Create(podsPath, pod("a", "{name: http, containerPort: 8080}")+"\n---\n"+pod("b", "{name: http, containerPort: 9090}"))
	c.Settle(0)
	all := slices(t, c)
	require.Len(t, all, 2, "one for each set of ports")
	for i, port := range []int64{8080, 9090} {
		_ = i
		found := false
		for _, s := range all {
			p, _ := object.List(s, "ports")[0].(map[string]any)
			if p["port"] == port {
				found = true
				e, _ := object.List(s, "endpoints")[0].(map[string]any)
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
	c.Settle(0)
	subset, _ := object.List(c.Get("endpoints", "default", "web"), "subsets")[0].(map[string]any)
	assert.Empty(t, subset["addresses"])
	assert.Len(t, subset["notReadyAddresses"], 1)
	e, _ := object.List(slices(t, c)[0], "endpoints")[0].(map[string]any)
	assert.Equal(t, map[string]any{"ready": false, "serving": false, "terminating": false}, e["conditions"])

	c.Delete(podsPath + "/a?gracePeriodSeconds=0")
	c.Delete(podsPath + "/b?gracePeriodSeconds=0")
	c.Settle(0)
	require.Len(t, slices(t, c), 1)
	assert.Empty(t, object.List(slices(t, c)[0], "endpoints"))
	c.Delete(servicesPath + "/web")
	c.Settle(0)
	assert.Nil(t, c.Get("endpoints", "default", "web"))
}

// A slice has a hundred endpoints.
func TestManyEndpoints(t *testing.T) {
	c := start(t)
	c.Create(servicesPath, service(`selector: {app: web}, ports: [{port: 80}]`))
	for i := range 101 {
		c.Create(podsPath, pod(fmt.Sprintf("p%d", i), ""))
	}
	c.Settle(0)
	n := 0
	for _, s := range slices(t, c) {
		n += len(object.List(s, "endpoints"))
		assert.LessOrEqual(t, len(object.List(s, "endpoints")), 100)
	}
	assert.Len(t, slices(t, c), 2)
	assert.Equal(t, 101, n)
}

// Services without a selector, and those of other names, are left alone.
func TestUnmanaged(t *testing.T) {
	for name, spec := range map[string]string{
		"no selector": `ports: [{port: 80}]`, "external name": `type: ExternalName, externalName: example.com, selector: {app: web}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			c.Create(servicesPath, service(spec))
			c.Create(podsPath, pod("a", ""))
			c.Settle(0)
			assert.Empty(t, slices(t, c))
			assert.Nil(t, c.Get("endpoints", "default", "web"))
		})
	}
}

func TestHeadless(t *testing.T) {
	c := start(t)
	c.Create(servicesPath, service(`clusterIP: None, selector: {app: web}`))
	c.Create(podsPath, `{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: web}}, spec: {hostname: h, subdomain: web, containers: [{name: c, image: i}]}}`)
	c.Settle(0)
	s := slices(t, c)[0]
	e, _ := object.List(s, "endpoints")[0].(map[string]any)
	assert.Equal(t, "h", e["hostname"])
	assert.Empty(t, object.List(s, "ports"))
	labels := object.Map(s, "metadata", "labels")
	assert.Contains(t, labels, "service.kubernetes.io/headless")
	subset, _ := object.List(c.Get("endpoints", "default", "web"), "subsets")[0].(map[string]any)
	assert.Len(t, subset["addresses"], 1)
}
