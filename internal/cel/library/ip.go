package library

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

// ipVal is the CEL value of an IP address.
type ipVal struct{ Val[netip.Addr] }

// Equal compares addresses.
func (v ipVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(ipVal)
	if !ok {
		return types.ValOrErr(other, "no such overload")
	}
	return types.Bool(v.Native == o.Native)
}

// Size returns the size in bytes.
func (v ipVal) Size() ref.Val { return byteLen(v.Native.BitLen()) }

// cidrVal is the CEL value of a CIDR: a prefix and an address in it.
type cidrVal struct{ Val[netip.Prefix] }

// Equal compares the prefixes and the addresses.
func (v cidrVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(cidrVal)
	if !ok {
		return types.ValOrErr(other, "no such overload")
	}
	return types.Bool(v.Native == o.Native)
}

// Size returns the size of the prefix in bytes.
func (v cidrVal) Size() ref.Val { return byteLen(v.Native.Bits()) }

func byteLen(bits int) ref.Val { return types.Int((bits + 7) / 8) }

func newIP(a netip.Addr) ref.Val     { return ipVal{NewVal(ipType, a)} }
func newCIDR(p netip.Prefix) ref.Val { return cidrVal{NewVal(cidrType, p)} }

// ipFunctions returns the IP library.
func ipFunctions() []function {
	property := func(name, overload string, has func(netip.Addr) bool) function {
		return method(name, overload, argTypes(ipType), types.BoolType, unary(func(ip ipVal) ref.Val { return types.Bool(has(ip.Native)) }))
	}
	return []function{
		global("ip", "string_to_ip", argTypes(types.StringType), ipType, unary(toIP)),
		global("isIP", "is_ip", argTypes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			_, err := parseIP(string(s))
			return types.Bool(err == nil)
		})),
		global("ip.isCanonical", "ip_is_canonical", argTypes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			ip, err := parseIP(string(s))
			if err != nil {
				return types.NewErr("%v", err)
			}
			return types.Bool(ip.String() == string(s))
		})),
		global("string", "ip_to_string", argTypes(ipType), types.StringType, unary(func(ip ipVal) ref.Val { return types.String(ip.Native.String()) })),
		method("family", "ip_family", argTypes(ipType), types.IntType, unary(func(ip ipVal) ref.Val {
			if ip.Native.Is4() {
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

// cidrFunctions returns the CIDR library.
func cidrFunctions() []function {
	return []function{
		global("cidr", "string_to_cidr", argTypes(types.StringType), cidrType, unary(toCIDR)),
		global("isCIDR", "is_cidr", argTypes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			_, err := parseCIDR(string(s))
			return types.Bool(err == nil)
		})),
		global("string", "cidr_to_string", argTypes(cidrType), types.StringType, unary(func(c cidrVal) ref.Val { return types.String(c.Native.String()) })),
		{"containsIP", []cel.FunctionOpt{
			cel.MemberOverload("cidr_contains_ip_string", argTypes(cidrType, types.StringType), types.BoolType,
				binary(func(c cidrVal, s types.String) ref.Val { return containsIP(c, toIP(s)) })),
			cel.MemberOverload("cidr_contains_ip_ip", argTypes(cidrType, ipType), types.BoolType, binary(containsIP)),
		}},
		{"containsCIDR", []cel.FunctionOpt{
			cel.MemberOverload("cidr_contains_cidr_string", argTypes(cidrType, types.StringType), types.BoolType,
				binary(func(c cidrVal, s types.String) ref.Val { return containsCIDR(c, toCIDR(s)) })),
			cel.MemberOverload("cidr_contains_cidr", argTypes(cidrType, cidrType), types.BoolType, binary(containsCIDR)),
		}},
		method("ip", "cidr_ip", argTypes(cidrType), ipType, unary(func(c cidrVal) ref.Val { return newIP(c.Native.Addr()) })),
		method("prefixLength", "cidr_prefix_length", argTypes(cidrType), types.IntType, unary(func(c cidrVal) ref.Val { return types.Int(c.Native.Bits()) })),
		method("masked", "cidr_masked", argTypes(cidrType), cidrType, unary(func(c cidrVal) ref.Val { return newCIDR(c.Native.Masked()) })),
	}
}

// containsIP reports whether c contains an address. The argument may be an error.
func containsIP(c cidrVal, arg ref.Val) ref.Val {
	ip, ok := arg.(ipVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(c)
	}
	return types.Bool(c.Native.Contains(ip.Native))
}

// containsCIDR reports whether c contains a CIDR. The argument may be an error.
func containsCIDR(c cidrVal, arg ref.Val) ref.Val {
	inner, ok := arg.(cidrVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(arg)
	}
	return types.Bool(c.Native.Overlaps(inner.Native) && c.Native.Bits() <= inner.Native.Bits())
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
