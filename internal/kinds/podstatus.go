package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validatePodStatus checks what a node, or who speaks for one, says of a pod.
func validatePodStatus(pod, old map[string]any) validation.List {
	return mistakes(pod, nil, func(p part) {
		annotationsUpdate(p, old)
		podStatus(p.within("status"), p.within("spec"), old)
	})
}

const notNegative = "must be a non-negative integer"

func podStatus(p, spec part, old map[string]any) {
	was := object.Map(old, "status")
	for _, condition := range p.each("conditions") {
		if condition.integer("observedGeneration") < 0 {
			condition.invalid("observedGeneration", notNegative)
		}
		typ := condition.text("type")
		if typ != "PodScheduled" && typ != "Ready" && typ != "Initialized" {
			condition.add(validation.Each(condition.at("Type"), typ, validation.QualifiedName(typ)))
		}
	}
	if node := p.text("nominatedNodeName"); node != "" && node != object.String(was, "nominatedNodeName") {
		p.is("nominatedNodeName", subdomain)
		if object.String(old, "spec", "nodeName") != "" {
			p.forbid("nominatedNodeName", "may not be set on pods that are already bound to a node")
		}
	}
	if p.integer("observedGeneration") < 0 {
		p.invalid("observedGeneration", notNegative)
	}
	if class := p.text("qosClass"); class != object.String(was, "qosClass") {
		p.add(validation.ImmutableField(validation.NamedString(class), validation.NamedString(""), p.at("qosClass")))
	}
	for _, list := range statusLists {
		endedStay(p, list, was, object.Map(old, "spec"))
	}
	claimStatuses(p, spec)
	p.ifGiven("extendedResourceClaimStatus", func(claim part) { extendedClaim(claim, spec) })
	for _, claim := range p.each("nodeAllocatableResourceClaimStatuses") {
		allocatableClaim(claim, p, spec)
	}
	addresses(p, "podIPs", "core.PodIP", was)
	hostAddresses(p, was)
	containerUsers(p, spec)
	allocatedResources(p, spec)
	for _, list := range statusLists {
		for _, c := range p.each(list.statuses) {
			for _, mount := range c.each("volumeMounts") {
				if image, ok := mount.within("volumeStatus").given("image"); ok {
					image.path = mount.at("volumeStatus").Child("imageVolumeStatus") // so kube-apiserver calls it
					imageVolumeStatus(image)
				}
			}
		}
	}
}

// A statusList pairs the statuses of containers with the containers.
type statusList struct{ statuses, containers string }

var statusLists = []statusList{
	{"containerStatuses", "containers"},
	{"initContainerStatuses", "initContainers"},
	{"ephemeralContainerStatuses", "ephemeralContainers"},
}

// endedStay checks that containers that ended and are not started again do not
// run.
func endedStay(p part, list statusList, was, spec map[string]any) {
	isEphemeral := list.containers == "ephemeralContainers"
	if !isEphemeral && restartsAll(spec) {
		return
	}
	i := -1
	for before := range object.Each(was[list.statuses]) {
		i++
		ended := object.Map(before, "state", "terminated")
		if ended == nil {
			continue
		}
		for _, now := range p.each(list.statuses) {
			if now.text("name") != object.String(before, "name") || now.within("state").has("terminated") {
				continue
			}
			code, _ := object.Int(ended, "exitCode")
			if isEphemeral || !restarts(spec, list.containers, now.text("name"), code) {
				p.note(validation.Forbidden(p.at(list.statuses).Index(i).Child("state"), "may not be transitioned to non-terminated state"))
			}
			break
		}
	}
}

// restartsAll reports whether the end of one container can start all of them
// again.
func restartsAll(spec map[string]any) bool {
	for c := range resourceful(spec) {
		for rule := range object.Each(c["restartPolicyRules"]) {
			if rule["action"] == "RestartAllContainers" {
				return true
			}
		}
	}
	return false
}

// restarts reports whether the container of the name is started again after it
// ended with the code.
func restarts(spec map[string]any, list, name string, code int64) bool {
	for c := range object.Each(spec[list]) {
		if c["name"] != name {
			continue
		}
		policy := object.String(spec, "restartPolicy")
		if own := object.String(c, "restartPolicy"); own != "" {
			if slices.ContainsFunc(object.List(c, "restartPolicyRules"), func(rule any) bool { return appliesTo(rule, code) }) {
				return true
			}
			policy = own
		}
		return policy == "Always" || policy == "OnFailure" && code != 0
	}
	return false
}

// appliesTo reports whether a rule is about the exit code.
func appliesTo(rule any, code int64) bool {
	r, _ := rule.(map[string]any)
	listed := slices.Contains(object.List(r, "exitCodes", "values"), any(code))
	switch object.String(r, "exitCodes", "operator") {
	case "In":
		return listed
	case "NotIn":
		return !listed
	}
	return false
}

func claimStatuses(p, spec part) {
	seen := names{}
	for _, status := range p.each("resourceClaimStatuses") {
		name := status.text("name")
		known := slices.ContainsFunc(object.List(spec.obj, "resourceClaims"), func(v any) bool {
			claim, _ := v.(map[string]any)
			return claim["name"] == name
		})
		if !known {
			status.note(validation.Invalid(status.at("name"), name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		seen.unique(status, "name")
		if status.has("resourceClaimName") {
			claim := status.text("resourceClaimName")
			status.add(validation.Each(status.at("resourceClaimName"), validation.NamedString(claim), subdomain(claim)))
		}
	}
}

// extendedClaim checks the claim that was made for what containers request of
// extended resources.
func extendedClaim(p, spec part) {
	if p.size("requestMappings") == 0 {
		p.missing("requestMappings", "at least one request mapping is required")
	}
	type mapping struct{ container, resource, request string }
	seen := map[mapping]bool{}
	for _, m := range p.each("requestMappings") {
		key := mapping{m.text("containerName"), m.text("resourceName"), m.text("requestName")}
		found, requested := false, false
		for c := range resourceful(spec.obj) {
			if c["name"] == key.container {
				found = true
				requested = object.Value(c, "resources", "requests", key.resource) != nil
			}
		}
		switch {
		case !found:
			m.invalid("containerName", "must match the name of an entry in spec.initContainers.name or spec.containers.name")
		case !requested:
			m.invalid("resourceName", "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests")
		}
		p.add(validation.Each(p.at("requestName"), key.request, validation.DNS1123Label(key.request)))
		if seen[key] {
			m.duplicate("containerName", key.container)
			m.duplicate("resourceName", key.resource)
			m.duplicate("requestName", key.request)
		}
		seen[key] = true
	}
	p.needsToBe("resourceClaimName", subdomain)
}

// allocatableClaim checks what a claim takes of its node's own resources.
func allocatableClaim(p, status, spec part) {
	name := p.text("resourceClaimName")
	if name == "" {
		p.missing("resourceClaimName", "must not be empty")
	}
	names := func(list any) bool {
		for claim := range object.Each(list) {
			if claim["resourceClaimName"] == name {
				return true
			}
		}
		return false
	}
	if !names(spec.obj["resourceClaims"]) && !names(status.obj["resourceClaimStatuses"]) {
		p.note(validation.Invalid(p.at("resourceClaimName"), name, "no mapping found in pod reference"))
	}
	for _, list := range []string{"containers", "resources"} {
		if p.size(list) == 0 {
			p.missing(list, "must not be empty")
		}
	}
	for resource, v := range p.entries("resources") {
		path := p.at("resources").Key(resource)
		if !isNativeResource(resource) {
			p.note(validation.Invalid(path, validation.NamedString(resource), "must be a node allocatable resource name"))
		}
		if quantity, _ := v.(string); compare(quantity, "0") < 0 {
			p.note(validation.Invalid(path, quantity, "must be non-negative"))
		}
	}
}

// addresses checks a list of IP addresses: valid ones, or such as it has had, at
// most one of each family.
func addresses(p part, list, typ string, was map[string]any) {
	if p.size(list) == 0 {
		return
	}
	var held, all []string
	for ip := range object.Each(was[list]) {
		held = append(held, object.String(ip, "ip"))
	}
	for _, ip := range p.each(list) {
		all = append(all, ip.text("ip"))
		p.add(validation.LegacyIP(ip.text("ip"), held, ip.path))
	}
	if len(all) < 2 {
		return
	}
	i := slices.IndexFunc(all, func(ip string) bool { return !validation.IsIP(ip) })
	if i >= 0 {
		p.note(validation.Internal(p.at(list), fmt.Errorf("failed to check for dual stack with error:invalid IP[%d]: %s", i, all[i])))
	}
	if i >= 0 || !isDualStack(all) {
		p.note(validation.Invalid(p.at(list), internal("[]"+typ, p.obj[list]), "may specify no more than one IP for each IP family"))
	}
}

// isDualStack reports whether two addresses are of different families.
func isDualStack(ips []string) bool {
	return len(ips) == 2 && isIPv6(ips[0]) != isIPv6(ips[1])
}

// isIPv6 reports whether an address is not of the older family, which can be
// written as one of the newer.
func isIPv6(ip string) bool { return validation.ParseIP(ip).Unmap().Is6() }

func hostAddresses(p part, was map[string]any) {
	for _, first := range p.each("hostIPs") {
		if first.text("ip") != p.text("hostIP") {
			first.invalid("ip", "must be equal to `hostIP`")
		}
		break
	}
	addresses(p, "hostIPs", "core.HostIP", was)
}

// containerUsers checks whom containers run as.
func containerUsers(p, spec part) {
	isWindows := object.String(spec.obj, "os", "name") == "windows"
	for _, list := range statusLists {
		for _, c := range p.each(list.statuses) {
			user := c.within("user")
			linux, ok := user.given("linux")
			switch {
			case !ok:
			case isWindows:
				user.forbid("linux", "cannot be set for a windows pod")
			default:
				ids(linux, "uid", "gid")
				unixGroups(linux)
			}
		}
	}
}

// maxHealthMessage is the longest message about a device, in bytes.
const maxHealthMessage = 1024

// allocatedResources checks the health of the devices that containers have.
func allocatedResources(p, spec part) {
	for _, list := range statusLists {
		for _, c := range p.each(list.statuses) {
			if list.containers == "ephemeralContainers" {
				if c.size("allocatedResourcesStatus") > 0 {
					c.forbid("allocatedResourcesStatus", "must not be specified in container status")
				}
				continue
			}
			container := containerNamed(spec.obj, list.containers, c.text("name"))
			for _, allocated := range c.each("allocatedResourcesStatus") {
				if container != nil {
					allocatedTo(allocated, container)
				}
				deviceHealth(allocated)
			}
		}
	}
}

func containerNamed(spec map[string]any, list, name string) map[string]any {
	for c := range object.Each(spec[list]) {
		if c["name"] == name {
			return c
		}
	}
	return nil
}

// allocatedTo checks that a container asked for the resource or the claim.
func allocatedTo(p part, container map[string]any) {
	name := p.text("name")
	if !strings.HasPrefix(name, "claim:") {
		if object.Value(container, "resources", "requests", name) == nil {
			p.invalidEnum("name", "must match one of the container's resource requests")
		}
		return
	}
	for claim := range object.Each(object.Value(container, "resources", "claims")) {
		full := "claim:" + object.String(claim, "name")
		if request := object.String(claim, "request"); request != "" {
			full += "/" + request
		}
		if full == name {
			return
		}
	}
	p.invalidEnum("name", "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")
}

func deviceHealth(p part) {
	seen := names{}
	for _, device := range p.each("resources") {
		device.oneOf("health", "Healthy", "Unhealthy", "Unknown")
		if device.has("message") {
			switch n := len(device.text("message")); {
			case n == 0:
				device.missing("message", "must be non-empty if specified")
			case n > maxHealthMessage:
				device.note(validation.TooLong(device.at("message"), maxHealthMessage))
			}
		}
		seen.unique(device, "resourceID")
	}
}

const maxImageRef = 256

// imageVolumeStatus checks which image a volume has.
func imageVolumeStatus(p part) {
	if p.text("imageRef") == "" {
		p.missing("imageRef", "imageRef must not be empty")
	}
	if len(p.text("imageRef")) > maxImageRef {
		p.note(validation.TooLong(p.at("imageRef"), maxImageRef))
	}
}
