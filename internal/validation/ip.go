package validation

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Addresses have three rules. New fields accept canonical text only: IP, CIDR
// and InterfaceAddress. Older fields accept any unambiguous text: LegacyIP and
// LegacyCIDR, whose callers also send IPWarnings and CIDRWarnings. A value that
// an older field already has stays valid even if its text is ambiguous: leading
// zeros, which some programs read as octal, and IPv4 addresses mapped into
// IPv6.

// parseIP parses an IPv4 or IPv6 address. Leading zeros are allowed in every
// group of digits. The result is invalid if s is not an address.
func parseIP(s string) netip.Addr {
	addr, err := netip.ParseAddr(trimZeros(s))
	if err != nil || addr.Zone() != "" {
		return netip.Addr{}
	}
	return addr
}

// ParseIP parses an IPv4 or IPv6 address by the rule of older fields. The
// result is invalid if s is not an address.
func ParseIP(s string) netip.Addr { return parseIP(s) }

// trimZeros removes the leading zeros of each group of an address.
func trimZeros(s string) string {
	var b strings.Builder
	kept := 0 // prefix of s that is in b
	start := true
	for i := range len(s) {
		if start && s[i] == '0' && i+1 < len(s) && isHexDigit(s[i+1]) {
			b.WriteString(s[kept:i])
			kept = i + 1
			continue
		}
		start = s[i] == '.' || s[i] == ':'
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

func isHexDigit(c byte) bool {
	return digit.has(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// EndpointIP checks that other nodes can reach an address.
func EndpointIP(s string, path *Path) List {
	addr := parseIP(s).Unmap()
	if !addr.IsValid() {
		return List{Invalid(path, s, "must be a valid IP address")}
	}
	var list List
	for _, rule := range []struct {
		broken bool
		detail string
	}{
		{addr.IsUnspecified(), "may not be unspecified (" + s + ")"},
		{addr.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{addr.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{addr.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		if rule.broken {
			list = append(list, Invalid(path, s, rule.detail))
		}
	}
	return list
}

// ParseCIDR parses an address, a slash and a prefix length. Leading zeros are
// allowed. The network is nil if s is invalid. An IPv4 address mapped into IPv6
// may have a prefix of up to 128 bits; net/netip does not allow a prefix for
// it.
func ParseCIDR(s string) (net.IP, *net.IPNet) {
	text, length, _ := strings.Cut(s, "/")
	addr := parseIP(text)
	if !addr.IsValid() || !digit.all(length) {
		return nil, nil
	}
	bits, err := strconv.Atoi(length)
	if err != nil || bits > addr.BitLen() {
		return nil, nil
	}
	ip := net.IP(addr.AsSlice())
	mask := net.CIDRMask(bits, addr.BitLen())
	return ip, &net.IPNet{IP: ip.Mask(mask), Mask: mask}
}

// IsIP reports whether s is an IP address. Groups may have leading zeros.
func IsIP(s string) bool { return parseIP(s).IsValid() }

// IsCIDR reports whether s is an address with a prefix length. Groups may have
// leading zeros.
func IsCIDR(s string) bool {
	_, network := ParseCIDR(s)
	return network != nil
}

// IP checks the canonical text of an IP address.
func IP(s string, path *Path) List {
	list := strictIP(s, path)
	if canonical := parseIP(s).String(); len(list) == 0 && s != canonical {
		list = List{notCanonical(path, s, canonical)}
	}
	return list
}

// StrictGate is the feature gate of the checks of ambiguous text in older fields. Without it they are
// accepted, with the warnings of IPWarnings and CIDRWarnings.
const StrictGate = "StrictIPCIDRValidation"

// LegacyIP checks an IP address that is neither ambiguous nor mapped, or one of
// the values that the field already has.
func LegacyIP(s string, old []string, path *Path) List {
	if slices.Contains(old, s) {
		return nil
	}
	if !IsIP(s) {
		return strictIP(s, path)
	}
	return strictIP(s, path).WithGate(StrictGate)
}

// strictIP checks an IP address that is neither ambiguous nor mapped.
func strictIP(s string, path *Path) List {
	addr := parseIP(s)
	if !addr.IsValid() {
		return List{Invalid(path, s, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")}
	}
	strict, err := netip.ParseAddr(s)
	if err != nil {
		return List{Invalid(path, s, "must not have leading 0s")}
	}
	if strict.Is4In6() {
		return List{Invalid(path, s, "must not be an IPv4-mapped IPv6 address")}
	}
	return nil
}

// IPWarnings returns the warnings for a text that LegacyIP accepts.
func IPWarnings(s string, path *Path) []string {
	addr := parseIP(s)
	if !addr.IsValid() {
		return nil
	}
	strict, err := netip.ParseAddr(s)
	if err != nil || strict.Is4In6() {
		return []string{fmt.Sprintf("%s: non-standard IP address %q is invalid: use %q", path, s, addr.Unmap())}
	}
	if canonical := strict.String(); strict.Is6() && canonical != s {
		return []string{fmt.Sprintf("%s: IPv6 address %q should be in RFC 5952 canonical format (%q)", path, s, canonical)}
	}
	return nil
}

// CIDR checks the canonical text of a network: an address whose bits beyond the
// prefix are zero, and the prefix length.
func CIDR(s string, path *Path) List {
	if list := strictCIDR(s, path); len(list) > 0 {
		return list
	}
	if _, network := ParseCIDR(s); s != network.String() {
		return List{notCanonical(path, s, network.String())}
	}
	return nil
}

// LegacyCIDR checks a network whose text is unambiguous, or one of the values
// that the field already has.
func LegacyCIDR(s string, old []string, path *Path) List {
	if slices.Contains(old, s) {
		return nil
	}
	if !IsCIDR(s) {
		return strictCIDR(s, path)
	}
	return strictCIDR(s, path).WithGate(StrictGate)
}

// strictCIDR checks a network whose text is unambiguous.
func strictCIDR(s string, path *Path) List {
	if _, network := ParseCIDR(s); network == nil {
		return List{Invalid(path, s, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")}
	}
	strict, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return List{Invalid(path, s, "must not have leading 0s in IP or prefix length")}
	case strict.Addr().Is4In6():
		return List{Invalid(path, s, "must not have an IPv4-mapped IPv6 address")}
	case strict != strict.Masked():
		return List{Invalid(path, s, "must not have bits set beyond the prefix length")}
	}
	return nil
}

// CIDRWarnings returns the warnings for a text that LegacyCIDR accepts.
func CIDRWarnings(s string, path *Path) []string {
	ip, network := ParseCIDR(s)
	if network == nil {
		return nil
	}
	var warnings []string
	if !ip.Equal(network.IP) {
		_, bits := network.Mask.Size()
		warnings = append(warnings, fmt.Sprintf("%s: CIDR value %q is ambiguous in this context (should be %q or %q?)",
			path, s, network, fmt.Sprintf("%s/%d", ip, bits)))
	}
	strict, err := netip.ParsePrefix(s)
	if err != nil || strict.Addr().Is4In6() {
		return append(warnings, fmt.Sprintf("%s: non-standard CIDR value %q is invalid: use %q", path, s, network))
	}
	if canonical := strict.String(); len(warnings) == 0 && strict.Addr().Is6() && canonical != s {
		warnings = append(warnings, fmt.Sprintf("%s: IPv6 CIDR value %q should be in RFC 5952 canonical format (%q)", path, s, canonical))
	}
	return warnings
}

// InterfaceAddress checks the canonical text of an address with the prefix
// length of its network.
func InterfaceAddress(s string, path *Path) List {
	ip, network := ParseCIDR(s)
	if network == nil {
		return List{Invalid(path, s, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")}
	}
	bits, _ := network.Mask.Size()
	if ip.To4() != nil && bits > 32 {
		bits -= 96 // "::ffff:192.168.0.1/120" is 192.168.0.1/24
	}
	if canonical := fmt.Sprintf("%s/%d", ip, bits); s != canonical {
		return List{notCanonical(path, s, canonical)}
	}
	return nil
}

func notCanonical(path *Path, s, canonical string) *Error {
	return Invalid(path, s, fmt.Sprintf("must be in canonical form (%q)", canonical))
}
