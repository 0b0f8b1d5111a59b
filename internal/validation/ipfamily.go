package validation

import (
	"strings"
)

const IPv4, IPv6 = "IPv4", "IPv6"

func IPFamily(ip string) string {
	if strings.Contains(ip, ":") {
		return IPv6
	}
	return IPv4
}

func OtherIPFamily(family string) string {
	if family == IPv4 {
		return IPv6
	}
	return IPv4
}
