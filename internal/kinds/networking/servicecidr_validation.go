package networking

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateServiceCIDR checks a ServiceCIDR. It has at most one CIDR for each IP family.
// An update can add the CIDR of the other family.
func validateServiceCIDR(obj map[string]any, old object.View) validation.List {
	path := validation.NewPath("spec").Child("cidrs")
	networks, was := object.Strings(obj, "spec", "cidrs"), old.Strings("spec", "cidrs")
	added := len(was) == 1 && len(networks) == 2
	switch {
	case old.IsNil():
		return serviceNetworks(networks, path)
	case len(networks) != len(was) && !added:
		return validation.List{validation.Invalid(path, object.Value(obj, "spec", "cidrs"), "field is immutable")}
	}
	var errs validation.List
	for i := range was {
		errs = append(errs, validation.ImmutableField(networks[i], was[i], path.Index(i))...)
	}
	if added {
		errs = append(errs, serviceNetworks(networks, path)...)
	}
	return errs
}

func serviceNetworks(networks []string, path *validation.Path) validation.List {
	switch {
	case len(networks) == 0:
		return validation.List{validation.Required(path, "at least one CIDR required")}
	case len(networks) > 2:
		return validation.List{validation.Invalid(path, validation.AsGoType("networking.ServiceCIDRSpec", map[string]any{"cidrs": networks}), "may only hold up to 2 values")}
	}
	var errs validation.List
	var families []int
	for i, s := range networks {
		errs = append(errs, validation.CIDR(s, path.Index(i))...)
		if ip, _ := validation.ParseCIDR(s); ip != nil {
			families = append(families, len(ip.To4()))
		}
	}
	if len(families) == 2 && families[0] == families[1] {
		errs = append(errs, validation.Invalid(path, networks, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
	}
	return errs
}
