package cel

import (
	"fmt"
	"net/netip"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

var (
	ipType   = types.NewOpaqueType("net.IP")
	cidrType = types.NewOpaqueType("net.CIDR")
)

// ipVal is an IP address.
type ipVal struct{ foreign[netip.Addr] }

// Equal compares addresses.
func (v ipVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(ipVal)
	if !ok {
		return types.ValOrErr(other, "no such overload")
	}
	return types.Bool(v.value == o.value)
}

// Size is in bytes.
func (v ipVal) Size() ref.Val { return bytesOf(v.value.BitLen()) }

// cidrVal is a range of addresses, with an address in it.
type cidrVal struct{ foreign[netip.Prefix] }

// Equal compares ranges and the addresses in them.
func (v cidrVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(cidrVal)
	if !ok {
		return types.ValOrErr(other, "no such overload")
	}
	return types.Bool(v.value == o.value)
}

// Size is that of the prefix, in bytes.
func (v cidrVal) Size() ref.Val { return bytesOf(v.value.Bits()) }

func bytesOf(bits int) ref.Val { return types.Int((bits + 7) / 8) }

func newIP(a netip.Addr) ref.Val     { return ipVal{foreign[netip.Addr]{ipType, a}} }
func newCIDR(p netip.Prefix) ref.Val { return cidrVal{foreign[netip.Prefix]{cidrType, p}} }

// ipFunctions are ip, isIP, ip.isCanonical, string and the properties of
// addresses.
func ipFunctions() []function {
	property := func(name, overload string, has func(netip.Addr) bool) function {
		return method(name, overload, takes(ipType), types.BoolType, unary(func(ip ipVal) ref.Val { return types.Bool(has(ip.value)) }))
	}
	return []function{
		global("ip", "string_to_ip", takes(types.StringType), ipType, unary(toIP)),
		global("isIP", "is_ip", takes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			_, err := parseIP(string(s))
			return types.Bool(err == nil)
		})),
		global("ip.isCanonical", "ip_is_canonical", takes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			ip, err := parseIP(string(s))
			if err != nil {
				return types.NewErr("%v", err)
			}
			return types.Bool(ip.String() == string(s))
		})),
		global("string", "ip_to_string", takes(ipType), types.StringType, unary(func(ip ipVal) ref.Val { return types.String(ip.value.String()) })),
		method("family", "ip_family", takes(ipType), types.IntType, unary(func(ip ipVal) ref.Val {
			if ip.value.Is4() {
				return types.Int(4)
			}
			return types.Int(6)
		})),
		property("isUnspecified", "ip_is_unspecified", netip.Addr.IsUnspecified),
		property("isLoopback", "ip_is_loopback", netip.Addr.IsLoopback),
		property("isLinkLocalMulticast", "ip_is_link_local_multicast", netip.Addr.IsLinkLocalMulticast),
		property("isLinkLocalUnicast", "ip_is_link_local_unicast", netip.Addr.IsLinkLocalUnicast),
		property("isGlobalUnicast", "ip_is_global_unicast", netip.Addr.IsGlobalUnicast),
	}
}

// cidrFunctions are cidr, isCIDR, string, what a range contains and what it is
// made of.
func cidrFunctions() []function {
	return []function{
		global("cidr", "string_to_cidr", takes(types.StringType), cidrType, unary(toCIDR)),
		global("isCIDR", "is_cidr", takes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			_, err := parseCIDR(string(s))
			return types.Bool(err == nil)
		})),
		global("string", "cidr_to_string", takes(cidrType), types.StringType, unary(func(c cidrVal) ref.Val { return types.String(c.value.String()) })),
		{"containsIP", []cel.FunctionOpt{
			cel.MemberOverload("cidr_contains_ip_string", takes(cidrType, types.StringType), types.BoolType,
				binary(func(c cidrVal, s types.String) ref.Val { return containsIP(c, toIP(s)) })),
			cel.MemberOverload("cidr_contains_ip_ip", takes(cidrType, ipType), types.BoolType, binary(containsIP)),
		}},
		{"containsCIDR", []cel.FunctionOpt{
			cel.MemberOverload("cidr_contains_cidr_string", takes(cidrType, types.StringType), types.BoolType,
				binary(func(c cidrVal, s types.String) ref.Val { return containsCIDR(c, toCIDR(s)) })),
			cel.MemberOverload("cidr_contains_cidr", takes(cidrType, cidrType), types.BoolType, binary(containsCIDR)),
		}},
		method("ip", "cidr_ip", takes(cidrType), ipType, unary(func(c cidrVal) ref.Val { return newIP(c.value.Addr()) })),
		method("prefixLength", "cidr_prefix_length", takes(cidrType), types.IntType, unary(func(c cidrVal) ref.Val { return types.Int(c.value.Bits()) })),
		method("masked", "cidr_masked", takes(cidrType), cidrType, unary(func(c cidrVal) ref.Val { return newCIDR(c.value.Masked()) })),
	}
}

// containsIP and containsCIDR take an error for an argument too.
func containsIP(c cidrVal, arg ref.Val) ref.Val {
	ip, ok := arg.(ipVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(c)
	}
	return types.Bool(c.value.Contains(ip.value))
}

func containsCIDR(c cidrVal, arg ref.Val) ref.Val {
	inner, ok := arg.(cidrVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(arg)
	}
	return types.Bool(c.value.Overlaps(inner.value) && c.value.Bits() <= inner.value.Bits())
}

func toIP(s types.String) ref.Val {
	ip, err := parseIP(string(s))
	if err != nil {
		return types.NewErr("%v", err)
	}
	return newIP(ip)
}

func toCIDR(s types.String) ref.Val {
	p, err := parseCIDR(string(s))
	if err != nil {
		return types.NewErr("network address parse error during conversion from string: %v", err)
	}
	return newCIDR(p)
}

func parseIP(s string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return ip, fmt.Errorf("IP Address %q parse error during conversion from string: %v", s, err)
	case ip.Zone() != "":
		return ip, fmt.Errorf("IP address %q with zone value is not allowed", s)
	case ip.Is4In6():
		return ip, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return ip, nil
}

func parseCIDR(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return p, fmt.Errorf("network address parse error during conversion from string: %v", err)
	case p.Addr().Is4In6():
		return p, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return p, nil
}
