package services

import (
	"github.com/kubefake/kubefake/internal/validation"
)

// CheckLoadBalancerIngress checks one way in through a load balancer, which may have
// an address that is held already.
func CheckLoadBalancerIngress(p validation.View, held []string) {
	if ip := p.String("ip"); ip != "" {
		p.AddList(validation.LegacyIP(ip, held, p.At("ip")))
	}
	p.FormatIfSet("hostname", validation.DNS1123Subdomain)
	if validation.IsIP(p.String("hostname")) {
		p.Invalid("hostname", MustBeDNSName)
	}
}

const MustBeDNSName = "must be a DNS name, not an IP address"
