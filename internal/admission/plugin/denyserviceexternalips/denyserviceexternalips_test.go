package denyserviceexternalips_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/denyserviceexternalips"
)

func TestPlugin(t *testing.T) {
	service := func(ip string) string { return `{"spec":{"externalIPs":["` + ip + `"]}}` }
	admissiontest.Run(t, denyserviceexternalips.Plugin{}, []admissiontest.Request{
		{Name: "none", Resource: "services", Object: `{}`},
		{Name: "new Service", Resource: "services", Object: service("10.0.0.1"), Error: "Use of external IPs is denied by admission control"},
		{Name: "new IP", Resource: "services", Object: service("10.0.0.1"), Old: service("10.0.0.2"), Error: "Use of external IPs is denied by admission control"},
		{Name: "same IP", Resource: "services", Object: service("10.0.0.1"), Old: service("10.0.0.1")},
	})
}
