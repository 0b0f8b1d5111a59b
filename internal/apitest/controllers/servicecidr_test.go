package controllers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

const serviceCIDRsPath = "/apis/networking.k8s.io/v1/servicecidrs"

func serviceCIDR(name, prefix string) string {
	return `{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: ` + name + `}, spec: {cidrs: ["` + prefix + `"]}}`
}

func TestServiceCIDRReady(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "service-cidr-controller")
	c.Create(serviceCIDRsPath, serviceCIDR("more", "10.9.0.0/24"))
	c.Settle()
	for _, name := range []string{"kubernetes", "more"} {
		o := c.Get("servicecidrs.networking.k8s.io", "", name)
		assert.Equal(t, []string{"networking.k8s.io/service-cidr-finalizer"}, object.Strings(o, "metadata", "finalizers"), name)
		assert.Equal(t, "True  Kubernetes Service CIDR is ready", condition(o, "Ready"), name)
	}
}

func TestServiceCIDRDeletion(t *testing.T) {
	t.Parallel()
	const blocked = "False Terminating There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
	address := func(ip, manager string) string {
		return `{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: ` + ip + `, labels: {ipaddress.kubernetes.io/ip-family: IPv4, ipaddress.kubernetes.io/managed-by: ` + manager + `}},
  spec: {parentRef: {resource: services, namespace: default, name: s}}}`
	}
	const allocator = "ipallocator.k8s.io"
	tests := []struct {
		name    string
		objects []string
		gone    bool
	}{
		{"without addresses", nil, true},
		{"with an address", []string{address("10.9.0.7", allocator)}, false},
		{"with an address of somebody else", []string{address("10.9.0.7", "me")}, true},
		{"with an address of another range", []string{address("10.10.0.7", allocator)}, true},
		{"with the address of the network", []string{address("10.9.0.0", allocator)}, true},
		{"with the last address", []string{address("10.9.0.255", allocator)}, true},
		{"with an address that another one has", []string{address("10.9.0.7", allocator), serviceCIDR("part", "10.9.0.0/28")}, true},
		{"within another one", []string{address("10.9.0.7", allocator), serviceCIDR("all", "10.9.0.0/16")}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "service-cidr-controller")
			c.Create(serviceCIDRsPath, serviceCIDR("more", "10.9.0.0/24"))
			c.Put(tt.objects...)
			c.Settle()
			c.Delete(serviceCIDRsPath + "/more")
			c.Wait(9 * time.Second)
			o := c.Get("servicecidrs.networking.k8s.io", "", "more")
			assert.Equal(t, tt.gone, condition(o, "Ready") != blocked)
			c.Wait(2 * time.Second)
			assert.Equal(t, tt.gone, c.Get("servicecidrs.networking.k8s.io", "", "more") == nil)
		})
	}
}

func TestServiceCIDRRelease(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "service-cidr-controller")
	c.Create(serviceCIDRsPath, serviceCIDR("more", "10.9.0.0/24"))
	c.Put(`{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 10.9.0.7, labels: {ipaddress.kubernetes.io/managed-by: ipallocator.k8s.io}},
  spec: {parentRef: {resource: services, namespace: default, name: s}}}`)
	c.Settle()
	c.Delete(serviceCIDRsPath + "/more")
	c.Wait(time.Minute)
	assert.NotNil(t, c.Get("servicecidrs.networking.k8s.io", "", "more"))
	c.Delete("/apis/networking.k8s.io/v1/ipaddresses/10.9.0.7")
	c.Settle()
	assert.Nil(t, c.Get("servicecidrs.networking.k8s.io", "", "more"))
}
