package services

import (
	"fmt"
	"net/netip"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

var protocols = []string{"SCTP", "TCP", "UDP"}

func validateEndpoints(obj map[string]any, old object.View) validation.List {
	errs := validation.Collect(obj, nil, checkEndpointSubsets)
	if old.IsNil() {
		return errs
	}
	if validation.Equal(obj["subsets"], old.At("subsets")) {
		errs = nil // unchanged subsets are accepted
	}
	return errs
}

func checkEndpointSubsets(p validation.View) {
	for _, subset := range p.Each("subsets") {
		if subset.Len("addresses") == 0 && subset.Len("notReadyAddresses") == 0 {
			subset.Add(validation.Required(subset.Path, "must specify `addresses` or `notReadyAddresses`"))
		}
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, address := range subset.Each(list) {
				checkEndpointAddress(address)
			}
		}
		for _, port := range subset.Each("ports") {
			if port.String("name") != "" || subset.Len("ports") > 1 {
				port.RequireFormat("name", validation.DNS1123Label)
			}
			checkEndpointPort(port)
		}
	}
}

func checkEndpointAddress(p validation.View) {
	ip := p.String("ip")
	p.AddList(validation.LegacyIP(ip, nil, p.At("ip")))
	p.FormatIfSet("hostname", validation.DNS1123Label)
	if p.Has("nodeName") {
		p.Format("nodeName", validation.Subdomain)
	}
	checkEndpointIP(p, ip, p.At("ip"))
}

// checkEndpointIP checks that the address is not unspecified, loopback or
// link-local.
func checkEndpointIP(p validation.View, ip string, path *validation.Path) {
	addr := parseAddress(ip)
	if !addr.IsValid() {
		p.Add(validation.Invalid(path, ip, "must be a valid IP address"))
		return
	}
	for _, class := range []struct {
		is     bool
		detail string
	}{
		{addr.IsUnspecified(), fmt.Sprintf("may not be unspecified (%s)", ip)},
		{addr.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{addr.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{addr.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if class.is {
			p.Add(validation.Invalid(path, ip, class.detail))
		}
	}
}

// parseAddress parses an IP address. It accepts leading zeros and IPv4-mapped IPv6
// addresses.
func parseAddress(ip string) netip.Addr { return validation.ParseIP(ip).Unmap() }

// checkEndpointPort validates everything but the name of a port.
func checkEndpointPort(p validation.View) {
	p.InRange("port", 1, 65535)
	p.RequireOneOf("protocol", protocols...)
	if p.Has("appProtocol") {
		p.Format("appProtocol", validation.QualifiedName)
	}
}

// warnEndpoints warns about addresses that are not in canonical form.
func warnEndpoints(obj map[string]any, _ object.View) []string {
	if object.String(obj, "metadata", "labels", "endpoints.kubernetes.io/managed-by") == "endpoint-controller" {
		return nil
	}
	var warnings []string
	for _, subset := range (validation.View{Obj: obj}).Each("subsets") {
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, address := range subset.Each(list) {
				warnings = append(warnings, validation.IPWarnings(address.String("ip"), address.At("ip"))...)
			}
		}
	}
	return warnings
}
