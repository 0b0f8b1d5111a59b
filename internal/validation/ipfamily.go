package validation

import "strings"

// IPv4 and IPv6 are the IP families.
const IPv4, IPv6 = "IPv4", "IPv6"

// IPFamily returns the family of an address or a CIDR. That of an IPv4 address mapped into
// IPv6 is IPv4.
func IPFamily(ip string) string {
	if !strings.Contains(ip, ":") {
		return IPv4
	}
	if address, _, network := strings.Cut(ip, "/"); !network && ParseIP(address).Is4In6() {
		return IPv4
	}
	if _, network := ParseCIDR(ip); network != nil && network.IP.To4() != nil {
		return IPv4
	}
	return IPv6
}

// OtherIPFamily returns the family that is not family.
func OtherIPFamily(family string) string {
	if family == IPv4 {
		return IPv6
	}
	return IPv4
}
