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

// allocateService gives a service its cluster IPs and node ports, after it has
// brought the members in line by which clients ask for them. An update that
// leaves out what the service has been given keeps it.
func allocateService(obj, old map[string]any, pool resource.Pool) error {
	spec, was := object.EnsureMap(obj, "spec"), object.Map(old, "spec")
	if was != nil {
		keepAssigned(spec, was)
	}
	linkClusterIPs(spec, was)
	if needsClusterIP(spec) && !staysPreferred(spec, was) {
		if errs := setFamilies(spec, was, pool.Families()); len(errs) > 0 {
			return &resource.Invalid{Errors: errs}
		}
		if err := allocateIPs(spec, was, pool); errors.Is(err, resource.ErrFull) {
			return fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", object.String(obj, "metadata", "name"), err)
		} else if err != nil {
			return err
		}
	}
	if needsNodePorts(spec) {
		if err := allocatePorts(spec, was, pool); err != nil {
			return err
		}
	}
	if needsHealthCheckPort(spec) && !needsHealthCheckPort(was) {
		return allocateHealthCheckPort(spec, pool)
	}
	return nil
}

// staysPreferred reports whether an update leaves a service that would rather
// have both families as it is: it is not given another address because the
// cluster has got another family.
func staysPreferred(spec, old map[string]any) bool {
	const prefer = "PreferDualStack"
	return old != nil && kind.SameField(spec, old, "type") && spec["ipFamilyPolicy"] == prefer && (old["ipFamilyPolicy"] == nil || old["ipFamilyPolicy"] == prefer) &&
		kind.SameField(spec, old, "clusterIP") && kind.SameField(spec, old, "clusterIPs") && kind.SameField(spec, old, "ipFamilies")
}

// A familyChoice is the choice of a service's IP families.
type familyChoice struct {
	validation.View
	old        map[string]any
	configured []string // the families of the cluster, the default one first
}

// setFamilies says of which IP families a service's addresses are, or why they
// cannot be of those that it asks for.
func setFamilies(spec, old map[string]any, configured []string) validation.List {
	headless := spec["clusterIP"] == "None" && len(object.Map(spec, "selector")) == 0
	switch {
	case spec["ipFamilyPolicy"] != nil:
	case old["ipFamilyPolicy"] != nil:
		spec["ipFamilyPolicy"] = old["ipFamilyPolicy"]
	case headless:
		spec["ipFamilyPolicy"] = "RequireDualStack" // its endpoints may have any
	default:
		spec["ipFamilyPolicy"] = "SingleStack"
	}
	path := validation.NewPath("spec")
	if errs := validation.Collect(spec, path, func(p validation.View) { checkClusterIPs(p, old) }); len(errs) > 0 {
		return errs
	}
	single := spec["ipFamilyPolicy"] == "SingleStack"
	if errs := validation.Collect(spec, path, func(p validation.View) {
		c := familyChoice{p, old, configured}
		c.checkPolicy(single)
		c.infer()
	}); len(errs) > 0 {
		return errs
	}
	families := object.Strings(spec, "ipFamilies")
	if len(families) == 0 {
		families = configured[:1]
	}
	if !headless {
		if errs := validation.Collect(spec, path, func(p validation.View) { familyChoice{p, old, configured}.checkConfigured() }); len(errs) > 0 {
			return errs
		}
	}
	if !single && len(families) == 1 && (headless || len(configured) == 2) {
		families = append(slices.Clone(families), validation.OtherIPFamily(families[0]))
	}
	spec["ipFamilies"] = stringList(families)
	return nil
}

// stringList is a list of strings in generic form.
func stringList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func (c familyChoice) badPolicy(detail string) {
	c.Add(validation.Invalid(c.At("ipFamilyPolicy"), validation.AsGoType("*s", c.Obj["ipFamilyPolicy"]), detail))
}

// checkPolicy checks that the policy fits how many families and addresses there
// are. An update to a single family lets go of the second one.
func (c familyChoice) checkPolicy(single bool) {
	if c.old != nil {
		if single {
			keepFirst(c.Obj, c.old, "clusterIPs")
			keepFirst(c.Obj, c.old, "ipFamilies")
		} else {
			for _, list := range []struct{ name, told string }{{"clusterIPs", "cluster IP"}, {"ipFamilies", "IP family"}} {
				if n := c.Len(list.name); n > 0 && n < len(object.List(c.old, list.name)) {
					c.badPolicy("must be 'SingleStack' to release the secondary " + list.told)
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

// infer takes the families that are not named from the addresses.
func (c familyChoice) infer() {
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

// checkConfigured checks that the cluster has the families.
func (c familyChoice) checkConfigured() {
	if c.String("ipFamilyPolicy") == "RequireDualStack" && len(c.configured) < 2 {
		c.badPolicy("this cluster is not configured for dual-stack services")
	}
	for i, family := range c.Strings("ipFamilies") {
		if !slices.Contains(c.configured, family) {
			c.Add(validation.Invalid(c.At("ipFamilies").Index(i), validation.NamedString(family), "not configured on this cluster"))
		}
	}
}

// keepFirst shortens a list that an update leaves alone while it asks for a
// single family.
func keepFirst(spec, old map[string]any, name string) {
	if list := object.List(spec, name); len(list) > 1 && kind.SameField(spec, old, name) {
		spec[name] = list[:1:1]
	}
}

// allocateIPs gives a service an address of each of its families that it has
// none of yet, the one it asks for if it asks.
func allocateIPs(spec, old map[string]any, pool resource.Pool) error {
	ips := object.Strings(spec, "clusterIPs")
	if len(ips) > 0 && ips[0] == "None" {
		return nil
	}
	held := 0
	if old != nil && needsClusterIP(old) {
		if isHeadless(old) {
			return nil
		}
		held = len(object.List(old, "ipFamilies"))
	}
	families := object.Strings(spec, "ipFamilies")
	for i := held; i < len(families); i++ {
		if i >= len(ips) {
			ips = append(ips, "")
		}
		ip, err := pool.IP(families[i], ips[i])
		if err != nil {
			return refusedIP(ips, ips[i], err)
		}
		ips[i] = ip
	}
	if len(ips) > 0 && len(families) > held {
		spec["clusterIP"], spec["clusterIPs"] = ips[0], stringList(ips)
	}
	return nil
}

func refusedIP(ips []string, ip string, err error) error {
	if errors.Is(err, resource.ErrFull) {
		return err
	}
	detail := fmt.Sprintf("failed to allocate IP %s: %v", ip, err)
	if ip == "" {
		detail = fmt.Sprintf("failed to allocate IP: %v", err)
	}
	return &resource.Invalid{Errors: validation.List{validation.Invalid(validation.NewPath("spec", "clusterIPs"), stringList(ips), detail)}}
}

// allocatePorts gives the ports of a service node ports, where it has none and
// its type assigns them. Ports of one number share one where the service is new.
func allocatePorts(spec, old map[string]any, pool resource.Pool) error {
	held := map[int64]bool{} // by the service, before or by now
	if needsNodePorts(old) {
		held = nodePorts(old)
	}
	shared := map[int64]int64{} // by the ports of one number
	seen := map[string]bool{}
	for _, port := range (validation.View{Obj: spec, Path: validation.NewPath("spec")}).Each("ports") {
		number, asked := port.Int("port"), port.Int("nodePort")
		if asked == 0 && !assignsNodePorts(spec) {
			continue
		}
		if old == nil && asked == 0 {
			asked = requestedPort(spec, number, shared)
		}
		given := asked
		if taken := held[asked] && (old != nil || shared[number] == asked); asked == 0 || !taken {
			var err error
			if given, err = pool.Port(asked); err != nil {
				return refusedPort(port.At("nodePort"), asked, err)
			}
		}
		port.Obj["nodePort"] = given
		held[given] = true
		if shared[number] == 0 {
			shared[number] = given
		}
		id := fmt.Sprintf("{%s %d}", port.String("protocol"), given)
		if old != nil && seen[id] {
			return resource.Failure("duplicate nodePort: " + id)
		}
		seen[id] = true
	}
	return nil
}

func refusedPort(at *validation.Path, asked int64, err error) error {
	if asked == 0 {
		return fmt.Errorf("failed to allocate a nodePort: %w", err)
	}
	return &resource.Invalid{Errors: validation.List{validation.Invalid(at, asked, err.Error())}}
}

// requestedPort is the node port that another port of the same number has or
// asks for; 0 if there is none.
func requestedPort(spec map[string]any, number int64, shared map[int64]int64) int64 {
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
	asked, _ := object.Int(spec, "healthCheckNodePort")
	given, err := pool.Port(asked)
	if err != nil {
		return fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %v", asked, err)
	}
	spec["healthCheckNodePort"] = given
	return nil
}

// NodePorts are the ports that a service holds on every node.
func NodePorts(service map[string]any) []int64 {
	spec := object.Map(service, "spec")
	var out []int64
	for n := range nodePorts(spec) {
		out = append(out, n)
	}
	if n, _ := object.Int(spec, "healthCheckNodePort"); n != 0 {
		out = append(out, n)
	}
	return out
}

// ClusterIPs are the addresses that a service holds. One that was put past the
// API may name the first alone.
func ClusterIPs(service map[string]any) []string {
	spec := object.Map(service, "spec")
	if !needsClusterIP(spec) || isHeadless(spec) {
		return nil
	}
	ips := object.Strings(spec, "clusterIPs")
	if len(ips) == 0 {
		ips = []string{object.String(spec, "clusterIP")}
	}
	return slices.DeleteFunc(ips, func(ip string) bool { return !validation.ParseIP(ip).IsValid() })
}
