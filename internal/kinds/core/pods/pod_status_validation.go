package pods

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validatePodStatus(pod map[string]any, old object.View) validation.List {
	return validation.Collect(pod, nil, func(p validation.View) {
		checkAnnotationsUpdate(p, old)
		checkPodStatus(p.Field("status"), p.Field("spec"), old)
	})
}

func checkPodStatus(p, spec validation.View, old object.View) {
	was := old.At("status")
	for _, condition := range p.Each("conditions") {
		if condition.Int("observedGeneration") < 0 {
			condition.Invalid("observedGeneration", validation.NotNegative)
		}
		typ := condition.String("type")
		if typ != "PodScheduled" && typ != "Ready" && typ != "Initialized" {
			for _, e := range validation.Each(condition.At("Type"), typ, validation.QualifiedName(typ)) {
				condition.Add(e.Before(behavior.FieldPaths, validation.Field("metadata"+strings.TrimPrefix(e.Field, p.Path.String()))))
			}
		}
	}
	if node := p.String("nominatedNodeName"); node != "" && node != was.String("nominatedNodeName") {
		p.Format("nominatedNodeName", validation.Subdomain)
		if old.String("spec", "nodeName") != "" {
			p.Add(validation.Forbidden(p.At("nominatedNodeName"), "may not be set on pods that are already bound to a node").
				WithGate("ClearingNominatedNodeNameAfterBinding", nil))
		}
	}
	if p.Int("observedGeneration") < 0 {
		p.Invalid("observedGeneration", validation.NotNegative)
	}
	if class := p.String("qosClass"); class != was.String("qosClass") {
		p.AddList(validation.ImmutableField(validation.NamedString(class), validation.NamedString(""), p.At("qosClass")))
	}
	for _, list := range statusLists {
		checkStateTransition(p, list, was, old.At("spec"))
	}
	checkClaimStatuses(p, spec)
	p.IfPresent("extendedResourceClaimStatus", func(claim validation.View) { checkExtendedClaim(claim, spec) })
	checkAllocatableClaims(p, spec)
	checkAddresses(p, "podIPs", "core.PodIP", was)
	if p.Len("podIPs") > 0 && p.String("podIP") == "" { // the first of them is empty
		p.Add(validation.Invalid(p.At("podIPs"), validation.AsGoType("[]core.PodIP", p.Obj["podIPs"]), "podIP and podIPs must either both be set or both be unset").Since(behavior.PodIPPairs))
	}
	checkHostAddresses(p, was)
	checkContainerUsers(p, spec)
	checkAllocatedResources(p, spec)
	for _, list := range statusLists {
		for _, c := range p.Each(list.statuses) {
			for _, mount := range c.Each("volumeMounts") {
				if image, ok := mount.Field("volumeStatus").Lookup("image"); ok {
					image.Path = mount.At("volumeStatus").Child("imageVolumeStatus") // the name in kube-apiserver's errors
					checkImageVolumeStatus(image)
				}
			}
		}
	}
}

// A statusList pairs a list of container statuses with the list of containers.
type statusList struct{ statuses, containers string }

var statusLists = []statusList{
	{"containerStatuses", "containers"},
	{"initContainerStatuses", "initContainers"},
	{"ephemeralContainerStatuses", "ephemeralContainers"},
}

// checkStateTransition checks that terminated containers stay terminated unless
// their restart policy restarts them.
func checkStateTransition(p validation.View, list statusList, was, spec object.View) {
	isEphemeral := list.containers == "ephemeralContainers"
	if !isEphemeral && restartsAll(spec) {
		return
	}
	i := -1
	for before := range was.At(list.statuses).Objects() {
		i++
		ended := before.At("state", "terminated")
		if ended.IsNil() {
			continue
		}
		for _, now := range p.Each(list.statuses) {
			if now.String("name") != before.String("name") || now.Field("state").Has("terminated") {
				continue
			}
			code, _ := ended.Int("exitCode")
			if isEphemeral || !restarts(spec, list.containers, now.String("name"), code) {
				p.Add(validation.Forbidden(p.At(list.statuses).Index(i).Child("state"), "may not be transitioned to non-terminated state"))
			}
			break
		}
	}
}

// restartsAll reports whether a restart rule can restart all containers.
func restartsAll(spec object.View) bool {
	for c := range readContainers(spec) {
		for rule := range c.At("restartPolicyRules").Objects() {
			if rule.String("action") == "RestartAllContainers" {
				return true
			}
		}
	}
	return false
}

// restarts reports whether the container is restarted after it exits with code.
func restarts(spec object.View, list, name string, code int64) bool {
	for c := range spec.At(list).Objects() {
		if c.String("name") != name {
			continue
		}
		policy := spec.String("restartPolicy")
		if own := c.String("restartPolicy"); own != "" {
			for rule := range c.At("restartPolicyRules").Objects() {
				if matchesExitCode(rule, code) {
					return true
				}
			}
			policy = own
		}
		return policy == "Always" || policy == "OnFailure" && code != 0
	}
	return false
}

// matchesExitCode reports whether a restart rule applies to the exit code.
func matchesExitCode(rule object.View, code int64) bool {
	listed := false
	for _, v := range rule.At("exitCodes", "values").Items() {
		listed = listed || v.EqualTo(code)
	}
	switch rule.String("exitCodes", "operator") {
	case "In":
		return listed
	case "NotIn":
		return !listed
	}
	return false
}

func checkClaimStatuses(p, spec validation.View) {
	seen := validation.Seen{}
	for _, status := range p.Each("resourceClaimStatuses") {
		name := status.String("name")
		known := slices.ContainsFunc(object.List(spec.Obj, "resourceClaims"), func(v any) bool {
			claim, _ := v.(map[string]any)
			return claim["name"] == name
		})
		if !known {
			status.Add(validation.Invalid(status.At("name"), name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		seen.Unique(status, "name")
		if status.Has("resourceClaimName") {
			claim := status.String("resourceClaimName")
			for _, e := range validation.Each(status.At("resourceClaimName"), validation.NamedString(claim), validation.Subdomain(claim)) {
				status.Add(e.Before(behavior.ClaimNamePaths, validation.Field(status.At("name").String())))
			}
		}
	}
}

// checkExtendedClaim validates extendedResourceClaimStatus, the claim for extended
// resources that containers request.
func checkExtendedClaim(p, spec validation.View) {
	if p.Len("requestMappings") == 0 {
		p.Required("requestMappings", "at least one request mapping is required")
	}
	type mapping struct{ container, resource, request string }
	seen := map[mapping]bool{}
	for _, m := range p.Each("requestMappings") {
		key := mapping{m.String("containerName"), m.String("resourceName"), m.String("requestName")}
		found, requested := false, false
		for c := range RegularContainers(spec.Obj) {
			if c["name"] == key.container {
				found = true
				requested = object.Value(c, "resources", "requests", key.resource) != nil
			}
		}
		switch {
		case !found:
			m.Invalid("containerName", "must match the name of an entry in spec.initContainers.name or spec.containers.name")
		case !requested:
			m.Invalid("resourceName", "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests")
		}
		p.AddList(validation.Each(p.At("requestName"), key.request, validation.DNS1123Label(key.request)))
		if seen[key] {
			m.Duplicate("containerName", key.container)
			m.Duplicate("resourceName", key.resource)
			m.Duplicate("requestName", key.request)
		}
		seen[key] = true
	}
	p.RequireFormat("resourceClaimName", validation.Subdomain)
}

// checkAddresses validates a list of IP addresses. Addresses of the old list are
// accepted. Each IP family may occur once.
func checkAddresses(p validation.View, list, typ string, was object.View) {
	if p.Len(list) == 0 {
		return
	}
	var oldIPs, all []string
	for ip := range was.At(list).Objects() {
		oldIPs = append(oldIPs, ip.String("ip"))
	}
	for _, ip := range p.Each(list) {
		all = append(all, ip.String("ip"))
		p.AddList(validation.LegacyIP(ip.String("ip"), oldIPs, ip.Path))
	}
	if len(all) < 2 {
		return
	}
	repeated := repeatedAddresses(p, list, typ).Until(behavior.AcceptsRepeatedAddresses)
	if list == "hostIPs" { // before other errors
		p.AddList(repeated)
		repeated = nil
	}
	i := slices.IndexFunc(all, func(ip string) bool { return !validation.IsIP(ip) })
	if i >= 0 {
		p.Add(validation.Internal(p.At(list), fmt.Errorf("failed to check for dual stack with error:invalid IP[%d]: %s", i, all[i])))
	}
	if i >= 0 || !isDualStack(all) {
		p.Add(validation.Invalid(p.At(list), validation.AsGoType("[]"+typ, p.Obj[list]), "may specify no more than one IP for each IP family"))
	}
	p.AddList(repeated)
}

// repeatedAddresses returns errors for the IP addresses that are in a list already.
func repeatedAddresses(p validation.View, list, typ string) (errs validation.List) {
	seen := validation.Seen{}
	for _, ip := range p.Each(list) {
		if seen[ip.String("ip")] {
			errs = append(errs, validation.Duplicate(ip.Path, validation.AsGoType(typ, ip.Obj)))
		}
		seen[ip.String("ip")] = true
	}
	return errs
}

// isDualStack reports whether ips are two addresses of different families.
func isDualStack(ips []string) bool {
	return len(ips) == 2 && validation.IPFamily(ips[0]) != validation.IPFamily(ips[1])
}

func checkHostAddresses(p validation.View, was object.View) {
	for _, first := range p.Each("hostIPs") {
		if first.String("ip") != p.String("hostIP") {
			first.Invalid("ip", "must be equal to `hostIP`")
		}
		break
	}
	checkAddresses(p, "hostIPs", "core.HostIP", was)
}

// checkContainerUsers validates the users in container statuses.
func checkContainerUsers(p, spec validation.View) {
	isWindows := object.String(spec.Obj, "os", "name") == "windows"
	for _, list := range statusLists {
		for _, c := range p.Each(list.statuses) {
			user := c.Field("user")
			linux, ok := user.Lookup("linux")
			if !ok {
				continue
			}
			errs := validation.Collect(linux.Obj, linux.Path, func(linux validation.View) {
				checkIDs(linux, "uid", "gid")
				checkUnixGroups(linux)
			})
			if isWindows {
				errs = validation.List{validation.Forbidden(linux.Path, forbiddenForWindows)}
			}
			for _, e := range errs {
				c.Add(e.Before(behavior.FieldPaths, validation.Field(c.At("linux").String()+strings.TrimPrefix(e.Field, linux.Path.String()))))
			}
		}
	}
}

// maxHealthMessage is the maximum length of a device's health message, in bytes.
const maxHealthMessage = 1024

// checkAllocatedResources validates allocatedResourcesStatus, the health of devices.
func checkAllocatedResources(p, spec validation.View) {
	for _, list := range statusLists {
		for _, c := range p.Each(list.statuses) {
			if list.containers == "ephemeralContainers" {
				if c.Len("allocatedResourcesStatus") > 0 {
					c.Forbidden("allocatedResourcesStatus", "must not be specified in container status")
				}
				continue
			}
			container := findContainer(spec.Obj, list.containers, c.String("name"))
			for _, allocated := range c.Each("allocatedResourcesStatus") {
				if container != nil {
					checkAllocatedTo(allocated, container)
				}
				checkDeviceHealth(allocated)
			}
		}
	}
}

func findContainer(spec map[string]any, list, name string) map[string]any {
	for c := range object.Each(spec[list]) {
		if c["name"] == name {
			return c
		}
	}
	return nil
}

// checkAllocatedTo checks that the container requests the resource or the claim.
func checkAllocatedTo(p validation.View, container map[string]any) {
	name := p.String("name")
	if !strings.HasPrefix(name, "claim:") {
		if object.Value(container, "resources", "requests", name) == nil {
			p.InvalidNamed("name", "must match one of the container's resource requests")
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
	p.InvalidNamed("name", "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")
}

func checkDeviceHealth(p validation.View) {
	seen := validation.Seen{}
	for _, device := range p.Each("resources") {
		device.OneOf("health", "Healthy", "Unhealthy", "Unknown")
		if device.Has("message") {
			switch n := len(device.String("message")); {
			case n == 0:
				device.Required("message", "must be non-empty if specified")
			case n > maxHealthMessage:
				device.Add(validation.TooLong(device.At("message"), maxHealthMessage))
			}
		}
		seen.Unique(device, "resourceID")
	}
}

const maxImageRef = 256

func checkImageVolumeStatus(p validation.View) {
	if p.String("imageRef") == "" {
		p.Required("imageRef", "imageRef must not be empty")
	}
	if len(p.String("imageRef")) > maxImageRef {
		p.Add(validation.TooLong(p.At("imageRef"), maxImageRef))
	}
}
