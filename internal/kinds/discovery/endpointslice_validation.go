package discovery

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

var addressTypes = []string{"FQDN", "IPv4", "IPv6"}

func validateEndpointSlice(obj map[string]any, old object.View) validation.List {
	// An update may keep invalid endpoints that are stored.
	return validateSlice(obj, old, old.IsNil() || !validation.Equal(obj["endpoints"], old.At("endpoints")))
}

// validateWholeEndpointSlice is validateEndpointSlice of releases before v1.33, whose updates
// keep no invalid endpoints.
func validateWholeEndpointSlice(obj map[string]any, old object.View) validation.List {
	return validateSlice(obj, old, true)
}

func validateSlice(obj map[string]any, old object.View, checkEndpoints bool) validation.List {
	errs := validation.Collect(obj, nil, checkEndpointSlice)
	if checkEndpoints {
		errs = append(errs, validation.Collect(obj, nil, checkSliceEndpoints)...)
	}
	if !old.IsNil() {
		errs = append(errs, validation.Collect(obj, nil, func(p validation.View) { p.ImmutableDeclared("addressType", "s", old) })...)
	}
	return errs
}

func checkEndpointSlice(p validation.View) {
	p.Declarative(func(p validation.View) { p.RequireOneOf("addressType", addressTypes...) })
	if n := p.Len("ports"); n > slicePortsMax {
		p.Add(validation.TooMany(p.At("ports"), n, slicePortsMax))
		return
	}
	seen := validation.Seen{}
	for _, port := range p.Each("ports") {
		port.FormatIfSet("name", validation.DNS1123Label)
		seen.Unique(port, "name")
		port.OneOf("protocol", "SCTP", "TCP", "UDP")
		if port.Has("appProtocol") {
			port.Format("appProtocol", validation.QualifiedName)
		}
	}
}

func checkSliceEndpoints(p validation.View) {
	if n := p.Len("endpoints"); n > endpointsMaxItems {
		p.Add(validation.TooMany(p.At("endpoints"), n, endpointsMaxItems))
		return
	}
	check := addressChecks[p.String("addressType")]
	for _, endpoint := range p.Each("endpoints") {
		checkSliceEndpoint(endpoint, check)
	}
}

// addressChecks maps an address type to the check of one address. list is the path of
// the addresses, path that of the address.
var addressChecks = map[string]func(address string, list, path *validation.Path) validation.List{
	"IPv4": func(address string, list, path *validation.Path) validation.List {
		return familyAddress(address, "IPv4", list, path, validation.LegacyIP(address, nil, path))
	},
	"IPv6": func(address string, list, path *validation.Path) validation.List {
		return familyAddress(address, "IPv6", list, path, validation.IP(address, path))
	},
	"FQDN": func(address string, _, path *validation.Path) validation.List {
		return validation.FullyQualifiedDomainName(address, path)
	},
}

// familyAddress checks that an address belongs to a family and that other nodes can reach it.
// errs are the errors of its text: if there are any, nothing else is checked. Releases before
// v1.33 do not check the text.
func familyAddress(address, family string, list, path *validation.Path, errs validation.List) validation.List {
	addr := validation.ParseIP(address).Unmap()
	ofFamily := addr.IsValid() && addr.Is6() == (family == "IPv6")
	out := errs.Since(behavior.AddressesOfEndpoints)
	if !ofFamily {
		out = append(out, validation.Invalid(path, address, "must be a valid "+family+" address").Until(behavior.AddressesOfEndpoints))
	}
	if len(errs) > 0 {
		return append(out, validation.EndpointIP(address, path).Until(behavior.AddressesOfEndpoints)...)
	}
	if !ofFamily {
		out = append(out, validation.Invalid(list, address, "must be an "+family+" address").Since(behavior.AddressesOfEndpoints))
	}
	return append(out, validation.EndpointIP(address, path)...)
}

func checkSliceEndpoint(p validation.View, check func(string, *validation.Path, *validation.Path) validation.List) {
	addresses := p.At("addresses")
	switch n := p.Len("addresses"); {
	case n == 0:
		p.Add(validation.Required(addresses, "").Before(behavior.DeclarativeErrors, validation.Detail("must contain at least 1 address")).Declarative())
	case n > addressesMaxItems:
		p.Add(validation.TooMany(addresses, n, addressesMaxItems).Declarative())
	}
	if check != nil {
		for i, address := range p.Strings("addresses") {
			p.AddList(check(address, addresses, addresses.Index(i)))
		}
	}
	if p.Has("nodeName") {
		p.Format("nodeName", validation.Subdomain)
	}
	if n := p.Len("deprecatedTopology"); n > topologyMaxItems {
		p.Add(validation.TooMany(p.At("deprecatedTopology"), n, topologyMaxItems))
	}
	p.Labels("deprecatedTopology")
	if p.Has("hostname") {
		p.Format("hostname", validation.DNS1123Label)
	}
	p.IfPresent("hints", checkEndpointHints)
}

func checkEndpointHints(p validation.View) {
	for _, hints := range []struct {
		name   string
		format func(string) []string
	}{{"forZones", validation.LabelValue}, {"forNodes", validation.Subdomain}} {
		if n := p.Len(hints.name); n > hintsMaxItems {
			p.Add(validation.TooMany(p.At(hints.name), n, hintsMaxItems))
			return
		}
		seen := validation.Seen{}
		for _, hint := range p.Each(hints.name) {
			seen.Unique(hint, "name")
			hint.Format("name", hints.format)
		}
	}
}

const (
	endpointsMaxItems = 1000
	addressesMaxItems = 100
	topologyMaxItems  = 16
	slicePortsMax     = 20000
	hintsMaxItems     = 8
)
