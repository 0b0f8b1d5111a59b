package kinds

import (
	"fmt"
	"net/netip"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

var protocols = []string{"SCTP", "TCP", "UDP"}

func validateEndpoints(obj, old map[string]any) validation.List {
	errs := mistakes(obj, nil, endpointSubsets)
	if old == nil {
		return errs
	}
	if validation.Equal(obj["subsets"], old["subsets"]) {
		errs = nil // what was once valid may stay
	}
	return errs
}

func endpointSubsets(p part) {
	for _, subset := range p.each("subsets") {
		if subset.size("addresses") == 0 && subset.size("notReadyAddresses") == 0 {
			subset.note(validation.Required(subset.path, "must specify `addresses` or `notReadyAddresses`"))
		}
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, address := range subset.each(list) {
				endpointAddress(address)
			}
		}
		for _, port := range subset.each("ports") {
			if port.text("name") != "" || subset.size("ports") > 1 {
				port.needsToBe("name", validation.DNS1123Label)
			}
			endpointPort(port)
		}
	}
}

func endpointAddress(p part) {
	ip := p.text("ip")
	p.add(validation.LegacyIP(ip, nil, p.at("ip")))
	p.ifSet("hostname", validation.DNS1123Label)
	if p.has("nodeName") {
		p.is("nodeName", subdomain)
	}
	endpointIP(p, ip, p.at("ip"))
}

// endpointIP checks that an address can be one of another machine.
func endpointIP(p part, ip string, path *validation.Path) {
	addr := parseAddress(ip)
	if !addr.IsValid() {
		p.note(validation.Invalid(path, ip, "must be a valid IP address"))
		return
	}
	for _, unfit := range []struct {
		is     bool
		detail string
	}{
		{addr.IsUnspecified(), fmt.Sprintf("may not be unspecified (%s)", ip)},
		{addr.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{addr.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{addr.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if unfit.is {
			p.note(validation.Invalid(path, ip, unfit.detail))
		}
	}
}

// parseAddress reads an IP address, in one of its older spellings too.
func parseAddress(ip string) netip.Addr { return validation.ParseIP(ip).Unmap() }

// endpointPort checks a port but for its name.
func endpointPort(p part) {
	p.between("port", 1, 65535)
	p.needsOneOf("protocol", protocols...)
	if p.has("appProtocol") {
		p.is("appProtocol", validation.QualifiedName)
	}
}

// warnEndpoints tells of addresses that are spelled in an odd way.
func warnEndpoints(obj, _ map[string]any) []string {
	if object.String(obj, "metadata", "labels", "endpoints.kubernetes.io/managed-by") == "endpoint-controller" {
		return nil
	}
	var warnings []string
	for _, subset := range (part{obj: obj}).each("subsets") {
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, address := range subset.each(list) {
				warnings = append(warnings, validation.IPWarnings(address.text("ip"), address.at("ip"))...)
			}
		}
	}
	return warnings
}
