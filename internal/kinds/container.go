package kinds

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func (r *podRules) checkContainers() {
	if !r.spec.needs("containers") {
		return
	}
	seen, ports := names{}, names{}
	for _, c := range r.spec.each("containers") {
		r.checkContainer(c)
		seen.unique(c, "name")
		r.checkLifecycle(c)
		r.checkProbes(c)
		if !c.has("restartPolicy") && c.size("restartPolicyRules") > 0 {
			c.missing("restartPolicy", rulesNeedPolicy)
		}
		restartRules(c)
	}
	for _, c := range r.spec.each("containers") {
		hostPorts(c, c.at("ports"), ports)
	}
}

func (r *podRules) checkInitContainers() {
	if r.spec.size("initContainers") == 0 {
		return
	}
	seen := names{}
	for _, c := range r.spec.each("containers") {
		seen[c.text("name")] = true
	}
	for _, c := range r.spec.each("initContainers") {
		r.checkContainer(c)
		if c.has("restartPolicy") {
			restartRules(c)
		} else if c.size("restartPolicyRules") > 0 {
			c.missing("restartPolicy", rulesNeedPolicy)
		}
		if name := c.text("name"); name != "" || seen[name] {
			seen.unique(c, "name")
		}
		// They run one by one. kube-apiserver takes each for the first.
		hostPorts(c, r.spec.at("initContainers").Index(0).Child("ports"), names{})
		if c.text("restartPolicy") == "Always" {
			r.checkLifecycle(c)
			r.checkProbes(c)
			continue
		}
		for _, name := range []string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
			if c.has(name) {
				c.forbid(name, "may not be set for init containers without restartPolicy=Always")
			}
		}
		for _, policy := range c.each("resizePolicy") {
			if policy.text("restartPolicy") == "RestartContainer" {
				policy.invalidEnum("restartPolicy", "must not be set to 'RestartContainer' for non-sidecar initContainers")
			}
		}
	}
}

// notEphemeral are the fields of containers that ephemeral ones cannot have, in
// the order of Kubernetes' types.
var notEphemeral = []string{
	"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
}

func (r *podRules) checkEphemeralContainers() {
	if r.spec.size("ephemeralContainers") == 0 {
		return
	}
	const why = "cannot be set for an Ephemeral Container"
	others, seen := names{}, names{}
	for c := range resourceful(r.spec.obj) {
		others[object.String(c, "name")] = true
		seen[object.String(c, "name")] = true
	}
	for _, c := range r.spec.each("ephemeralContainers") {
		r.checkContainer(c)
		paddedImage(c)
		seen.unique(c, "name")
		if target := c.text("targetContainerName"); target != "" && !others[target] {
			c.note(validation.NotFound(c.at("targetContainerName"), target))
		}
		for _, name := range notEphemeral {
			isNone := !c.has(name) || name == "resources" && c.size(name) == 0 // every container has resources
			if !isNone {
				c.forbid(name, why)
			}
		}
		for _, mount := range c.each("volumeMounts") {
			for _, name := range []string{"subPath", "subPathExpr"} {
				if mount.text(name) != "" {
					mount.forbid(name, why)
				}
			}
		}
	}
}

// checkContainer checks what containers of all sorts have.
func (r *podRules) checkContainer(c part) {
	c.needsToBe("name", validation.DNS1123Label)
	c.needs("image")
	c.needsOneOf("terminationMessagePolicy", "File", "FallbackToLogsOnError")
	containerPorts(c)
	for _, variable := range c.each("env") {
		variable.needsToBe("name", validation.RelaxedEnvVarName)
		variable.ifGiven("valueFrom", func(source part) { valueFrom(source, variable.text("value")) })
	}
	envFrom(c)
	r.checkMounts(c)
	r.checkDevices(c)
	c.needsOneOf("imagePullPolicy", pullPolicies...)
	resourceRequirements(c.within("resources"), containerResourceName, r.claims)
	r.checkResizePolicy(c)
	c.ifGiven("securityContext", r.checkContainerSecurity)
}

// pullPolicies are those of container images and of image volumes.
var pullPolicies = []string{"Always", "IfNotPresent", "Never"}

// paddedImage refuses space around the image of a pod's container. A template
// may have it.
func paddedImage(c part) {
	if image := c.text("image"); strings.TrimSpace(image) != image {
		c.invalid("image", "must not have leading or trailing whitespace")
	}
}

func containerPorts(c part) {
	seen := names{}
	for _, port := range c.each("ports") {
		if name := port.text("name"); name != "" {
			if messages := validation.PortName(name); len(messages) > 0 {
				port.add(validation.Each(port.at("name"), name, messages))
			} else {
				seen.unique(port, "name")
			}
		}
		if port.integer("containerPort") == 0 {
			port.missing("containerPort", "")
		} else {
			port.between("containerPort", 1, 65535)
		}
		if port.integer("hostPort") != 0 {
			port.between("hostPort", 1, 65535)
		}
		port.needsOneOf("protocol", "SCTP", "TCP", "UDP")
	}
}

// hostPorts checks that no other container has taken a container's ports of the
// node. The ports are told as being at path.
func hostPorts(c part, path *validation.Path, taken names) {
	for i, port := range c.each("ports") {
		number := port.integer("hostPort")
		if number == 0 {
			continue
		}
		key := port.text("protocol") + "/" + port.text("hostIP") + "/" + strconv.FormatInt(number, 10)
		if taken[key] {
			port.note(validation.Duplicate(path.Index(i).Child("hostPort"), key))
		}
		taken[key] = true
	}
}

// valueFrom checks where the value of an environment variable comes from.
func valueFrom(source part, value string) {
	sources := 0
	count := func(name string, rule func(part)) {
		if ref, ok := source.given(name); ok {
			sources++
			rule(ref)
		}
	}
	count("fieldRef", func(ref part) { fieldRef(ref, envFields) })
	count("resourceFieldRef", func(ref part) { resourceFieldRef(ref, false) })
	count("configMapKeyRef", keyRef)
	count("secretKeyRef", keyRef)
	count("fileKeyRef", fileKeyRef)
	wrong := ""
	switch {
	case sources == 0:
		wrong = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
	case value != "":
		wrong = "may not be specified when `value` is not empty"
	case sources > 1:
		wrong = "may not have more than one field specified at a time"
	default:
		return
	}
	source.note(validation.Invalid(source.path, "", wrong))
}

func envFrom(c part) {
	for _, source := range c.each("envFrom") {
		source.ifSet("prefix", validation.RelaxedEnvVarName)
		sources := 0
		for _, name := range []string{"configMapRef", "secretRef"} {
			source.ifGiven(name, func(ref part) {
				sources++
				ref.needsToBe("name", func(s string) []string { return validation.SubdomainName(s, true) })
			})
		}
		switch sources {
		case 0:
			c.note(validation.Invalid(c.at("envFrom"), "", "must specify one of: `configMapRef` or `secretRef`"))
		case 2:
			c.note(validation.Invalid(c.at("envFrom"), "", "may not have more than one field specified at a time"))
		}
	}
}

// The fields of a pod that its containers can be told of, in their environment
// and in files.
var (
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

	// knownFields are those that a field path can name at all.
	knownFields = append([]string{
		"metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase",
	}, envFields...)
)

func fieldRef(ref part, supported []string) {
	if !ref.needs("apiVersion") || !ref.needs("fieldPath") {
		return
	}
	field := ref.text("fieldPath")
	unknown := func(why string) { ref.invalid("fieldPath", "error converting fieldPath: "+why) }
	if version := ref.text("apiVersion"); version != "v1" {
		unknown("unsupported pod version: " + version)
		return
	}
	if member, key, ok := subscript(field); ok {
		switch member {
		case "metadata.annotations":
			key = strings.ToLower(key)
		case "metadata.labels":
		default:
			unknown("field label does not support subscript: " + field)
			return
		}
		ref.add(validation.Each(ref.path, key, validation.QualifiedName(key)))
		return
	}
	if field == "spec.host" {
		field = "spec.nodeName" // its old name
	}
	switch {
	case !slices.Contains(knownFields, field):
		unknown("field label not supported: " + field)
	case !slices.Contains(supported, field):
		ref.note(validation.NotSupported(ref.at("fieldPath"), field, supported))
	}
}

// subscript splits "metadata.labels['key']".
func subscript(field string) (member, key string, ok bool) {
	rest, ok := strings.CutSuffix(field, "']")
	if !ok {
		return "", "", false
	}
	member, key, ok = strings.Cut(rest, "['")
	return member, key, ok && member != ""
}

// resourceFields are the resources of a container that it can be told of,
// besides its huge pages.
var resourceFields = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory",
	"requests.cpu", "requests.ephemeral-storage", "requests.memory",
}

// resourceFieldRef checks a reference to a resource of a container, which a
// file has to name.
func resourceFieldRef(ref part, inFile bool) {
	resource := ref.text("resource")
	isHugePages := strings.HasPrefix(resource, "requests.hugepages-") || strings.HasPrefix(resource, "limits.hugepages-")
	switch {
	case inFile && ref.text("containerName") == "":
		ref.missing("containerName", "")
	case resource == "":
		ref.missing("resource", "")
	case !isHugePages && !slices.Contains(resourceFields, resource):
		ref.note(validation.NotSupported(ref.at("resource"), resource, resourceFields))
	}
	divisor := ref.text("divisor")
	if divisor == "" || !nonzero(divisor) {
		return
	}
	switch kind, memory := resource[strings.Index(resource, ".")+1:], !slices.Contains(memoryDivisors, divisor); {
	case resource == "limits.cpu" || resource == "requests.cpu":
		if divisor != "1m" && divisor != "1" {
			ref.note(validation.Invalid(ref.at("divisor"), resource, "only divisor's values 1m and 1 are supported with the cpu resource"))
		}
	case !memory:
	case isHugePages:
		badDivisor(ref, "hugepages")
	case slices.Contains(resourceFields, resource) && kind == "memory":
		badDivisor(ref, "memory")
	case slices.Contains(resourceFields, resource):
		badDivisor(ref, "local ephemeral storage")
	}
}

// memoryDivisors are the units in which bytes can be told.
var memoryDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}

func badDivisor(ref part, resource string) {
	ref.note(validation.Invalid(ref.at("divisor"), ref.text("resource"),
		fmt.Sprintf("only divisor's values %s are supported with the %s resource", strings.Join(memoryDivisors, ", "), resource)))
}

// keyRef checks a reference to a key of a ConfigMap or a Secret.
func keyRef(ref part) {
	ref.is("name", subdomain)
	ref.needsToBe("key", validation.ConfigMapKey)
}

func fileKeyRef(ref part) {
	ref.needsToBe("key", validation.RelaxedEnvVarName)
	ref.needsToBe("volumeName", validation.DNS1123Label)
	if ref.needs("path") {
		noBacksteps(ref, "path")
	}
}

func (r *podRules) checkMounts(c part) {
	if c.size("volumeMounts") == 0 {
		return
	}
	taken := names{}
	for _, mount := range c.each("volumeMounts") {
		name, at := mount.text("name"), mount.text("mountPath")
		mount.needs("name")
		if _, ok := r.volumes[name]; !ok {
			mount.note(validation.NotFound(mount.at("name"), name))
		}
		mount.needs("mountPath")
		if taken[at] {
			mount.invalid("mountPath", "must be unique")
		}
		taken[at] = true
		if c.lists("volumeDevices", "name", name) {
			mount.invalid("name", "must not already exist in volumeDevices")
		}
		if c.lists("volumeDevices", "devicePath", at) {
			mount.invalid("mountPath", "must not already exist as a path in volumeDevices")
		}
		checkMountOptions(c, mount)
	}
}

// checkMountOptions checks how a volume is mounted. kube-apiserver leaves out of
// most of the paths which of the mounts is meant.
func checkMountOptions(c, mount part) {
	mounts := part{mount.obj, c.at("volumeMounts"), c.errs}
	if mount.text("subPath") != "" {
		descendingPath(mounts, "subPath")
	}
	if mount.text("subPathExpr") != "" {
		if mount.text("subPath") != "" {
			mount.invalid("subPathExpr", "subPathExpr and subPath are mutually exclusive")
		}
		descendingPath(mounts, "subPathExpr")
	}
	if mount.has("mountPropagation") {
		mounts.oneOf("mountPropagation", "Bidirectional", "HostToContainer", "None")
		if mount.text("mountPropagation") == "Bidirectional" && !c.within("securityContext").flag("privileged") {
			mounts.forbid("mountPropagation", "Bidirectional mount propagation is available only to privileged containers")
		}
	}
	if !mounts.ifOneOf("recursiveReadOnly", "Disabled", "Enabled", "IfPossible") {
		return
	}
	if recursive := mount.text("recursiveReadOnly"); recursive == "Enabled" || recursive == "IfPossible" {
		if !mount.flag("readOnly") {
			mounts.forbid("recursiveReadOnly", "may only be specified when readOnly is true")
		}
		if mount.has("mountPropagation") && mount.text("mountPropagation") != "None" {
			mounts.forbid("recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")
		}
	}
}

func (r *podRules) checkDevices(c part) {
	takenNames, takenPaths := names{}, names{}
	for _, device := range c.each("volumeDevices") {
		name, at := device.text("name"), device.text("devicePath")
		device.needs("name")
		if takenNames[name] {
			device.invalid("name", "must be unique")
		}
		switch volume, ok := r.volumes[name]; {
		case !ok:
			device.note(validation.NotFound(device.at("name"), name))
		case !volume.has("persistentVolumeClaim") && !volume.has("ephemeral"):
			device.invalid("name", "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		device.needs("devicePath")
		if takenPaths[at] {
			device.invalid("devicePath", "must be unique")
		}
		if stepsBack(at) {
			device.invalid("devicePath", "can not contain backsteps ('..')")
		} else {
			takenPaths[at] = true
		}
		if c.lists("volumeMounts", "name", name) {
			device.invalid("name", "must not already exist in volumeMounts")
		}
		if c.lists("volumeMounts", "mountPath", at) {
			device.invalid("devicePath", "must not already exist as a path in volumeMounts")
		}
		if name != "" {
			takenNames[name] = true
		}
	}
}

// checkResizePolicy notes most mistakes in an item at the list, as
// kube-apiserver does.
func (r *podRules) checkResizePolicy(c part) {
	if c.size("resizePolicy") == 0 {
		return
	}
	seen, list := names{}, c.at("resizePolicy")
	for _, policy := range c.each("resizePolicy") {
		resource, restart := policy.text("resourceName"), policy.text("restartPolicy")
		if seen[resource] {
			c.note(validation.Duplicate(policy.path, validation.NamedString(resource)))
		}
		seen[resource] = true
		needsOneOfAt(c, list, resource, "cpu", "memory")
		needsOneOfAt(c, list, restart, "NotRequired", "RestartContainer")
		if r.spec.text("restartPolicy") == "Never" && restart != "NotRequired" {
			c.note(validation.Invalid(list, validation.NamedString(restart), "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
}

// needsOneOfAt is needsOneOf for a value that is told as being elsewhere.
func needsOneOfAt(p part, path *validation.Path, value string, values ...string) {
	switch {
	case value == "":
		p.note(validation.Required(path, ""))
	case !slices.Contains(values, value):
		p.note(validation.NotSupported(path, validation.NamedString(value), values))
	}
}

const (
	maxRestartRules = 20
	maxExitCodes    = 255

	rulesNeedPolicy = "must specify restartPolicy when restart rules are used"
)

// restartRules checks when a container of its own policy is started again.
func restartRules(c part) {
	c.ifOneOf("restartPolicy", "Always", "Never", "OnFailure")
	if n := c.size("restartPolicyRules"); n > maxRestartRules {
		c.note(validation.TooMany(c.at("restartPolicyRules"), n, maxRestartRules))
	}
	for _, rule := range c.each("restartPolicyRules") {
		rule.oneOf("action", "Restart", "RestartAllContainers")
		codes, ok := rule.given("exitCodes")
		if !ok {
			rule.missing("exitCodes", "must be specified")
			continue
		}
		codes.oneOf("operator", "In", "NotIn")
		if n := codes.size("values"); n > maxExitCodes {
			codes.note(validation.TooMany(codes.at("values"), n, maxExitCodes))
		}
	}
}

func (r *podRules) checkLifecycle(c part) {
	lifecycle, ok := c.given("lifecycle")
	if !ok {
		return
	}
	lifecycle.ifGiven("postStart", r.checkHandler)
	lifecycle.ifGiven("preStop", r.checkHandler)
	if !lifecycle.has("stopSignal") {
		return
	}
	switch object.String(r.spec.obj, "os", "name") {
	case "":
		if !r.spec.has("os") {
			lifecycle.forbid("stopSignal", "may not be set for containers with empty `spec.os.name`")
		}
	case "windows":
		lifecycle.oneOf("stopSignal", "SIGKILL", "SIGTERM")
	case "linux":
		lifecycle.oneOf("stopSignal", linuxSignals()...)
	}
}

func (r *podRules) checkProbes(c part) {
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probe, ok := c.given(name)
		if !ok {
			continue
		}
		r.checkHandler(probe)
		probe.notNegative("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
		if probe.has("terminationGracePeriodSeconds") && probe.integer("terminationGracePeriodSeconds") <= 0 {
			probe.invalid("terminationGracePeriodSeconds", "must be greater than 0")
		}
		switch {
		case name != "readinessProbe":
			if n := probe.integer("successThreshold"); n != 1 {
				probe.note(validation.Invalid(probe.at("successThreshold"), n, "must be 1"))
			}
		case probe.has("terminationGracePeriodSeconds"):
			probe.invalid("terminationGracePeriodSeconds", "must not be set for readinessProbes")
		}
	}
}

// checkHandler checks what a probe or a lifecycle event does: one thing.
func (r *podRules) checkHandler(p part) {
	handlers := 0
	for _, h := range [...]struct {
		name string
		rule func(part)
	}{
		{"exec", func(exec part) { exec.needs("command") }},
		{"httpGet", httpGet},
		{"tcpSocket", portOf},
		{"grpc", portOf},
		{"sleep", r.checkSleep},
	} {
		handler, ok := p.given(h.name)
		if !ok {
			continue
		}
		if handlers++; handlers > 1 {
			p.forbid(h.name, "may not specify more than 1 handler type")
			continue
		}
		h.rule(handler)
	}
	if handlers == 0 {
		p.note(validation.Required(p.path, "must specify a handler type"))
	}
}

func httpGet(p part) {
	p.needs("path")
	portOf(p)
	p.oneOf("scheme", "HTTP", "HTTPS")
	for _, header := range p.each("httpHeaders") {
		name := header.text("name")
		p.add(validation.Each(p.at("httpHeaders"), name, validation.HTTPHeaderName(name)))
	}
}

// portOf checks a port by its number or name.
func portOf(p part) {
	if name, ok := p.obj["port"].(string); ok {
		p.add(validation.Each(p.at("port"), name, validation.PortName(name)))
		return
	}
	p.between("port", 1, 65535)
}

func (r *podRules) checkSleep(p part) {
	if seconds := p.integer("seconds"); seconds < 0 || seconds > r.grace {
		p.note(validation.Invalid(p.path, seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", r.grace)))
	}
}

// stepsBack reports whether a path leads to a parent directory on its way.
func stepsBack(p string) bool {
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

// noBacksteps checks that a path does not step back.
func noBacksteps(p part, name string) {
	if stepsBack(p.text(name)) {
		p.invalid(name, "must not contain '..'")
	}
}

// descendingPath checks that a path leads down from where it is used.
func descendingPath(p part, name string) {
	if path.IsAbs(p.text(name)) {
		p.invalid(name, "must be a relative path")
	}
	noBacksteps(p, name)
}

// filePath checks the path of a file in a volume: one that descends and takes no
// name that the volume itself may need.
func filePath(p part, name string) {
	value := p.text(name)
	if value == "" {
		return
	}
	descendingPath(p, name)
	if strings.HasPrefix(value, "..") && !strings.HasPrefix(value, "../") {
		p.invalid(name, "must not start with '..'")
	}
}

// linuxSignals are the signals that can stop a container, sorted.
func linuxSignals() []string {
	signals := strings.Fields("SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT " +
		"SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP " +
		"SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ")
	for i := 1; i <= 15; i++ {
		signals = append(signals, "SIGRTMIN+"+strconv.Itoa(i))
		if i < 15 {
			signals = append(signals, "SIGRTMAX-"+strconv.Itoa(i))
		}
	}
	slices.Sort(signals)
	return signals
}
