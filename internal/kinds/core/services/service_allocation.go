package services

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// allocateService allocates the cluster IPs and node ports of a Service. It first
// sets clusterIP and clusterIPs to agree. An update that omits allocated values
// keeps them.
func allocateService(obj map[string]any, old object.View, pool resource.Pool) error {
	spec, was := object.EnsureMap(obj, "spec"), old.At("spec")
	if !was.IsNil() {
		spec = object.Own(obj, "spec")
		keepAllocated(spec, was)
	}
	normalizeClusterIPs(spec, was)
	now := object.ViewOf(spec)
	if needsClusterIP(now) && !keepsPreferDualStack(spec, was) {
		if errs := setIPFamilies(spec, was, pool); len(errs) > 0 {
			return &resource.Invalid{Errors: errs}
		}
		if err := allocateIPs(spec, was, pool); errors.Is(err, resource.ErrFull) {
			return fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", object.String(obj, "metadata", "name"), err)
		} else if err != nil {
			return err
		}
	}
	if needsNodePorts(now) {
		if err := allocatePorts(spec, was, pool); err != nil {
			return err
		}
	}
	if needsHealthCheckPort(now) && !needsHealthCheckPort(was) {
		return allocateHealthCheckPort(spec, pool)
	}
	return nil
}

// keepsPreferDualStack reports whether an update leaves the type, the cluster IPs
// and the IP families of a PreferDualStack Service unchanged. Such a Service gets no
// second address if the cluster has become dual-stack.
func keepsPreferDualStack(spec map[string]any, old object.View) bool {
	const prefer = "PreferDualStack"
	return !old.IsNil() && kind.SameField(spec, old, "type") && spec["ipFamilyPolicy"] == prefer && (old.IsNil("ipFamilyPolicy") || old.String("ipFamilyPolicy") == prefer) &&
		kind.SameField(spec, old, "clusterIP") && kind.SameField(spec, old, "clusterIPs") && kind.SameField(spec, old, "ipFamilies")
}

// A familyDefaults sets the IP families of a Service.
type familyDefaults struct {
	validation.View
	old        object.View
	configured []string // families of the cluster, the default one first
}

// setIPFamilies sets ipFamilyPolicy and ipFamilies. It returns errors if they do not
// fit the cluster IPs or the families of the cluster.
func setIPFamilies(spec map[string]any, old object.View, pool resource.Pool) validation.List {
	configured := pool.Families()
	headless := spec["clusterIP"] == "None" && len(object.Map(spec, "selector")) == 0
	switch {
	case spec["ipFamilyPolicy"] != nil:
	case !old.IsNil("ipFamilyPolicy"):
		spec["ipFamilyPolicy"] = old.At("ipFamilyPolicy").Shared()
	case headless:
		spec["ipFamilyPolicy"] = "RequireDualStack" // its endpoints may have any family
	default:
		spec["ipFamilyPolicy"] = "SingleStack"
	}
	path := validation.NewPath("spec")
	if errs := pool.Released(validation.Collect(spec, path, func(p validation.View) { checkClusterIPs(p, old) })); len(errs) > 0 {
		return errs
	}
	single := spec["ipFamilyPolicy"] == "SingleStack"
	if errs := validation.Collect(spec, path, func(p validation.View) {
		c := familyDefaults{p, old, configured}
		c.checkPolicy(single)
		c.inferFamilies()
	}); len(errs) > 0 {
		return errs
	}
	families := object.Strings(spec, "ipFamilies")
	if len(families) == 0 {
		families = configured[:1]
	}
	if !headless {
		if errs := validation.Collect(spec, path, func(p validation.View) { familyDefaults{p, old, configured}.checkConfigured() }); len(errs) > 0 {
			return errs
		}
	}
	if !single && len(families) == 1 && (headless || len(configured) == 2) {
		families = append(slices.Clone(families), validation.OtherIPFamily(families[0]))
	}
	spec["ipFamilies"] = stringList(families)
	return nil
}

func stringList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func (c familyDefaults) badPolicy(detail string) {
	c.Add(validation.Invalid(c.At("ipFamilyPolicy"), validation.AsGoType("*s", c.Obj["ipFamilyPolicy"]), detail))
}

// checkPolicy checks that ipFamilyPolicy allows the number of families and
// addresses. An update to SingleStack drops the secondary ones.
func (c familyDefaults) checkPolicy(single bool) {
	if !c.old.IsNil() {
		if single {
			dropSecondary(c.Obj, c.old, "clusterIPs")
			dropSecondary(c.Obj, c.old, "ipFamilies")
		} else {
			for _, list := range []struct{ name, label string }{{"clusterIPs", "cluster IP"}, {"ipFamilies", "IP family"}} {
				if n := c.Len(list.name); n > 0 && n < c.old.Len(list.name) {
					c.badPolicy("must be 'SingleStack' to release the secondary " + list.label)
				}
			}
		}
	}
	if !single {
		return
	}
	const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
	if c.Len("clusterIPs") == 2 {
		c.badPolicy(detail + "cluster IPs are specified")
	}
	if c.Len("ipFamilies") == 2 {
		c.badPolicy(detail + "IP families are specified")
	}
}

// inferFamilies sets the missing ipFamilies from the cluster IPs.
func (c familyDefaults) inferFamilies() {
	families := c.Strings("ipFamilies")
	for i, ip := range c.Strings("clusterIPs") {
		if ip == "None" {
			break
		}
		if i < len(families) {
			continue
		}
		family := validation.IPFamily(ip)
		if !slices.Contains(c.configured, family) {
			c.Add(validation.Invalid(c.At("clusterIPs").Index(i), validation.AsGoType("[]s", c.Obj["clusterIPs"]), family+" is not configured on this cluster"))
			continue
		}
		families = append(families, family)
	}
	if len(families) > 0 {
		c.Obj["ipFamilies"] = stringList(families)
	}
}

// checkConfigured checks that the cluster supports the requested families.
func (c familyDefaults) checkConfigured() {
	if c.String("ipFamilyPolicy") == "RequireDualStack" && len(c.configured) < 2 {
		c.badPolicy("this cluster is not configured for dual-stack services")
	}
	for i, family := range c.Strings("ipFamilies") {
		if !slices.Contains(c.configured, family) {
			c.Add(validation.Invalid(c.At("ipFamilies").Index(i), validation.NamedString(family), "not configured on this cluster"))
		}
	}
}

// dropSecondary keeps only the first element of a list that the update does not
// change.
func dropSecondary(spec map[string]any, old object.View, name string) {
	if list := object.List(spec, name); len(list) > 1 && kind.SameField(spec, old, name) {
		spec[name] = list[:1:1]
	}
}

// allocateIPs allocates a cluster IP for each IP family that has none: the requested
// one, or any.
func allocateIPs(spec map[string]any, old object.View, pool resource.Pool) error {
	ips := object.Strings(spec, "clusterIPs")
	if len(ips) > 0 && ips[0] == "None" {
		return nil
	}
	allocated := 0
	families := object.Strings(spec, "ipFamilies")
	if !old.IsNil() && needsClusterIP(old) {
		// Only a second family gets an address. A Service that was created through its
		// status never gets a first one.
		if isHeadless(old) || old.Len("ipFamilies") != 1 {
			return nil
		}
		allocated = 1
	}
	requested := append(ips, make([]string, max(len(families)-len(ips), 0))...)
	ips = slices.Clone(requested)
	for i := allocated; i < len(families); i++ {
		ip, err := pool.IP(families[i], requested[i])
		if err != nil {
			return ipError(requested, requested[i], err)
		}
		ips[i] = ip
	}
	if len(ips) > 0 && len(families) > allocated {
		spec["clusterIP"], spec["clusterIPs"] = ips[0], stringList(ips)
	}
	return nil
}

func ipError(requested []string, ip string, err error) error {
	if errors.Is(err, resource.ErrFull) {
		return err
	}
	detail := fmt.Sprintf("failed to allocate IP %s: %v", ip, err)
	if ip == "" {
		detail = fmt.Sprintf("failed to allocate IP: %v", err)
	}
	return &resource.Invalid{Errors: validation.List{validation.Invalid(validation.NewPath("spec", "clusterIPs"), stringList(requested), detail)}}
}

// allocatePorts allocates the missing node ports of a Service. On create, ports with
// the same number but different protocols get the same node port.
func allocatePorts(spec map[string]any, old object.View, pool resource.Pool) error {
	current := map[int64]bool{} // node ports that the Service has
	if needsNodePorts(old) {
		current = nodePorts(old)
	}
	shared := map[int64]int64{} // node port by port number
	seen := map[string]bool{}
	ownIncompletePorts(spec)
	for _, port := range (validation.View{Obj: spec, Path: validation.NewPath("spec")}).Each("ports") {
		number, requested := port.Int("port"), port.Int("nodePort")
		if requested == 0 && !allocatesNodePorts(object.ViewOf(spec)) {
			continue
		}
		if old.IsNil() && requested == 0 {
			requested = sharedNodePort(spec, number, shared)
		}
		allocated := requested
		if taken := current[requested] && (!old.IsNil() || shared[number] == requested); requested == 0 || !taken {
			var err error
			if allocated, err = pool.Port(requested); err != nil {
				return portError(port.At("nodePort"), requested, err)
			}
		}
		if allocated != requested || port.Int("nodePort") == 0 {
			port.Obj["nodePort"] = allocated
		}
		current[allocated] = true
		if shared[number] == 0 {
			shared[number] = allocated
		}
		id := fmt.Sprintf("{%s %d}", port.String("protocol"), allocated)
		if !old.IsNil() && seen[id] {
			return resource.Failure("duplicate nodePort: " + id)
		}
		seen[id] = true
	}
	return nil
}

func portError(at *validation.Path, requested int64, err error) error {
	if requested == 0 {
		return fmt.Errorf("failed to allocate a nodePort: %w", err)
	}
	return &resource.Invalid{Errors: validation.List{validation.Invalid(at, requested, err.Error())}}
}

// sharedNodePort returns the node port that another port with the same number has or
// requests, or 0.
func sharedNodePort(spec map[string]any, number int64, shared map[int64]int64) int64 {
	if n := shared[number]; n != 0 {
		return n
	}
	for port := range object.Each(spec["ports"]) {
		if n, _ := object.Int(port, "nodePort"); n != 0 && port["port"] == number {
			return n
		}
	}
	return 0
}

func allocateHealthCheckPort(spec map[string]any, pool resource.Pool) error {
	requested, _ := object.Int(spec, "healthCheckNodePort")
	allocated, err := pool.Port(requested)
	if err != nil {
		return fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %v", requested, err)
	}
	spec["healthCheckNodePort"] = allocated
	return nil
}

// NodePorts returns the node ports of a Service, its health check port included.
func NodePorts(service map[string]any) []int64 {
	spec := object.ViewOf(service).At("spec")
	var out []int64
	for n := range nodePorts(spec) {
		out = append(out, n)
	}
	if n, _ := spec.Int("healthCheckNodePort"); n != 0 {
		out = append(out, n)
	}
	return out
}

// ClusterIPs returns the cluster IPs of a Service. An object that was stored without
// validation may have clusterIP but no clusterIPs.
func ClusterIPs(service map[string]any) []string {
	spec := object.ViewOf(service).At("spec")
	if !needsClusterIP(spec) || isHeadless(spec) {
		return nil
	}
	ips := spec.Strings("clusterIPs")
	if len(ips) == 0 {
		ips = []string{spec.String("clusterIP")}
	}
	return slices.DeleteFunc(ips, func(ip string) bool { return !validation.ParseIP(ip).IsValid() })
}
