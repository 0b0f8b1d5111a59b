package validation

import "strings"

// IPv4 and IPv6 are the IP families.
const IPv4, IPv6 = "IPv4", "IPv6"

// IPFamily returns the family of an address or a CIDR.
func IPFamily(ip string) string {
	if strings.Contains(ip, ":") {
		return IPv6
	}
	return IPv4
}

// OtherIPFamily returns the family that is not family.
func OtherIPFamily(family string) string {
	if family == IPv4 {
		return IPv6
	}
	return IPv4
}
