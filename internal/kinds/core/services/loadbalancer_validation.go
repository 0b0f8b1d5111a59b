package services

import (
	"github.com/kubefake/kubefake/internal/validation"
)

// CheckLoadBalancerIngress validates an item of status.loadBalancer.ingress. oldIPs
// are addresses of the old object. They are accepted in legacy formats.
func CheckLoadBalancerIngress(p validation.View, oldIPs []string) {
	if ip := p.String("ip"); ip != "" {
		p.AddList(validation.LegacyIP(ip, oldIPs, p.At("ip")))
	}
	p.FormatIfSet("hostname", validation.DNS1123Subdomain)
	if validation.IsIP(p.String("hostname")) {
		p.Invalid("hostname", MustBeDNSName)
	}
}

const MustBeDNSName = "must be a DNS name, not an IP address"
