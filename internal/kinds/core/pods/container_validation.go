package pods

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func (r *podRules) checkContainers() {
	if !r.spec.Require("containers") {
		return
	}
	seen, ports := validation.Seen{}, validation.Seen{}
	for _, c := range r.spec.Each("containers") {
		r.checkContainer(c)
		seen.Unique(c, "name")
		r.checkLifecycle(c)
		r.checkProbes(c)
		if c.Has("restartPolicy") {
			c.Add(validation.Forbidden(c.At("restartPolicy"), "may not be set for non-init containers").WithoutGate(restartRules))
		}
		checkRestartRules(c)
	}
	for _, c := range r.spec.Each("containers") {
		checkHostPorts(c, c.Path, ports)
	}
}

func (r *podRules) checkInitContainers() {
	if r.spec.Len("initContainers") == 0 {
		return
	}
	seen := validation.Seen{}
	for _, c := range r.spec.Each("containers") {
		seen[c.String("name")] = true
	}
	for _, c := range r.spec.Each("initContainers") {
		r.checkContainer(c)
		switch policy := c.String("restartPolicy"); {
		case c.Has("restartPolicy"):
			if policy == "Always" {
				checkSidecarRestartRules(c)
				break
			}
			c.Add(validation.NotSupported(c.At("restartPolicy"), policy, []string{"Always"}).WithoutGate(restartRules))
			checkRestartRules(c)
		case c.Len("restartPolicyRules") > 0:
			c.Add(validation.Required(c.At("restartPolicy"), rulesNeedPolicy).Since(behavior.RestartRulesNeedPolicy))
		}
		if name := c.String("name"); name != "" || seen[name] {
			seen.Unique(c, "name")
		}
		// Init containers run one after another, so their ports cannot conflict.
		// kube-apiserver reports errors in any of them at index 0.
		checkHostPorts(c, r.spec.Path.Item("initContainers", 0), validation.Seen{})
		if c.String("restartPolicy") == "Always" {
			r.checkLifecycle(c)
			r.checkProbes(c)
			continue
		}
		for _, name := range []string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
			if c.Has(name) {
				c.Forbidden(name, "may not be set for init containers without restartPolicy=Always")
			}
		}
		for _, policy := range c.Each("resizePolicy") {
			if policy.String("restartPolicy") == "RestartContainer" {
				policy.Add(validation.Invalid(policy.At("restartPolicy"), validation.NamedString("RestartContainer"), "must not be set to 'RestartContainer' for non-sidecar initContainers").Since(behavior.InitContainerResizes))
			}
		}
	}
}

// forbiddenInEphemeral are the container fields that ephemeral containers cannot
// set, in the order of kube-apiserver's errors.
var forbiddenInEphemeral = []string{
	"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
}

func (r *podRules) checkEphemeralContainers() {
	if r.spec.Len("ephemeralContainers") == 0 {
		return
	}
	const why = "cannot be set for an Ephemeral Container"
	others, seen := validation.Seen{}, validation.Seen{}
	for c := range RegularContainers(r.spec.Obj) {
		others[object.String(c, "name")] = true
		seen[object.String(c, "name")] = true
	}
	for _, c := range r.spec.Each("ephemeralContainers") {
		r.checkContainer(c)
		checkImageWhitespace(c)
		seen.Unique(c, "name")
		if target := c.String("targetContainerName"); target != "" && !others[target] {
			c.Add(validation.NotFound(c.At("targetContainerName"), target))
		}
		for _, name := range forbiddenInEphemeral {
			isNone := !c.Has(name) || name == "resources" && c.Len(name) == 0 // decoding sets resources in every container
			if !isNone {
				c.Forbidden(name, why)
			}
		}
		for _, mount := range c.Each("volumeMounts") {
			for _, name := range []string{"subPath", "subPathExpr"} {
				if mount.String(name) != "" {
					mount.Forbidden(name, why)
				}
			}
		}
	}
}

// checkContainer validates the fields that all kinds of containers have.
func (r *podRules) checkContainer(c validation.View) {
	c.RequireFormat("name", validation.DNS1123Label)
	c.Require("image")
	c.RequireOneOf("terminationMessagePolicy", "File", "FallbackToLogsOnError")
	checkContainerPorts(c)
	for _, variable := range c.Each("env") {
		variable.RequireFormat("name", validation.RelaxedEnvVarName)
		if source, ok := variable.Lookup("valueFrom"); ok {
			checkValueFrom(source, variable.String("value"))
			r.hasFileKeys = r.hasFileKeys || source.Has("fileKeyRef")
		}
	}
	checkEnvFrom(c)
	r.checkMounts(c)
	r.checkDevices(c)
	c.RequireOneOf("imagePullPolicy", pullPolicies...)
	resources.CheckRequirements(c.Field("resources"), resources.ValidateContainerResourceName, r.claims)
	r.checkResizePolicy(c)
	c.IfPresent("securityContext", r.checkContainerSecurity)
}

// pullPolicies are the pull policies of container images and image volumes.
var pullPolicies = []string{"Always", "IfNotPresent", "Never"}

// checkImageWhitespace checks that the image has no leading or trailing whitespace.
// It applies to Pods but not to pod templates.
func checkImageWhitespace(c validation.View) {
	if image := c.String("image"); strings.TrimSpace(image) != image {
		c.Invalid("image", "must not have leading or trailing whitespace")
	}
}

func checkContainerPorts(c validation.View) {
	if c.Len("ports") == 0 {
		return
	}
	seen := validation.Seen{}
	for _, port := range c.Each("ports") {
		if name := port.String("name"); name != "" {
			if messages := validation.PortName(name); len(messages) > 0 {
				port.AddList(validation.Each(port.At("name"), name, messages))
			} else {
				seen.Unique(port, "name")
			}
		}
		if port.Int("containerPort") == 0 {
			port.Required("containerPort", "")
		} else {
			port.InRange("containerPort", 1, 65535)
		}
		if port.Int("hostPort") != 0 {
			port.InRange("hostPort", 1, 65535)
		}
		port.RequireOneOf("protocol", "SCTP", "TCP", "UDP")
	}
}

// checkHostPorts checks that the host ports of a container are not in seen, and
// adds them to it. Errors are reported in the container at path.
func checkHostPorts(c validation.View, path *validation.Path, seen validation.Seen) {
	for i, port := range c.Each("ports") {
		number := port.Int("hostPort")
		if number == 0 {
			continue
		}
		key := port.String("protocol") + "/" + port.String("hostIP") + "/" + strconv.FormatInt(number, 10)
		if seen[key] {
			port.Add(validation.Duplicate(path.Item("ports", i).Child("hostPort"), key))
		}
		seen[key] = true
	}
}

func (r *podRules) checkMounts(c validation.View) {
	if c.Len("volumeMounts") == 0 {
		return
	}
	seen := validation.Seen{}
	for _, mount := range c.Each("volumeMounts") {
		name, at := mount.String("name"), mount.String("mountPath")
		mount.Require("name")
		if _, ok := r.volumes[name]; !ok {
			mount.Add(validation.NotFound(mount.At("name"), name))
		}
		mount.Require("mountPath")
		if seen[at] {
			mount.Invalid("mountPath", "must be unique")
		}
		seen[at] = true
		if c.Contains("volumeDevices", "name", name) {
			mount.Invalid("name", "must not already exist in volumeDevices")
		}
		if c.Contains("volumeDevices", "devicePath", at) {
			mount.Invalid("mountPath", "must not already exist as a path in volumeDevices")
		}
		checkMountOptions(c, mount)
		r.checkBindMount(mount)
	}
}

var bindMountOptions = []string{"nodev", "noexec", "nosuid"}

// checkBindMount validates the bindMountOptions of a volume mount.
func (r *podRules) checkBindMount(mount validation.View) {
	options := mount.Strings("bindMountOptions")
	if len(options) == 0 {
		return
	}
	at := mount.At("bindMountOptions")
	for i, option := range options {
		if !slices.Contains(bindMountOptions, option) {
			mount.Add(validation.NotSupported(at.Index(i), option, bindMountOptions))
		}
		if slices.Contains(options[:i], option) {
			mount.Add(validation.Duplicate(at.Index(i), option))
		}
	}
	if volume, ok := r.volumes[mount.String("name")]; ok && volume.Has("image") {
		mount.Invalid("bindMountOptions", "bindMountOptions may not be used with image volumes")
	}
}

// checkMountOptions validates the options of a volume mount. kube-apiserver reports
// most of the errors at volumeMounts without an index.
func checkMountOptions(c, mount validation.View) {
	mounts := validation.View{Obj: mount.Obj, Path: c.At("volumeMounts"), Errs: c.Errs}
	if mount.String("subPath") != "" {
		volumes.CheckDescendingPath(mounts, "subPath")
	}
	if mount.String("subPathExpr") != "" {
		if mount.String("subPath") != "" {
			mount.Invalid("subPathExpr", "subPathExpr and subPath are mutually exclusive")
		}
		volumes.CheckDescendingPath(mounts, "subPathExpr")
	}
	if mount.Has("mountPropagation") {
		mounts.OneOf("mountPropagation", "Bidirectional", "HostToContainer", "None")
		if mount.String("mountPropagation") == "Bidirectional" && !c.Field("securityContext").Bool("privileged") {
			mounts.Forbidden("mountPropagation", "Bidirectional mount propagation is available only to privileged containers")
		}
	}
	if !mounts.OneOfIfSet("recursiveReadOnly", "Disabled", "Enabled", "IfPossible") {
		return
	}
	if recursive := mount.String("recursiveReadOnly"); recursive == "Enabled" || recursive == "IfPossible" {
		if !mount.Bool("readOnly") {
			mounts.Forbidden("recursiveReadOnly", "may only be specified when readOnly is true")
		}
		if mount.Has("mountPropagation") && mount.String("mountPropagation") != "None" {
			mounts.Forbidden("recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")
		}
	}
}

func (r *podRules) checkDevices(c validation.View) {
	if c.Len("volumeDevices") == 0 {
		return
	}
	takenNames, takenPaths := validation.Seen{}, validation.Seen{}
	for _, device := range c.Each("volumeDevices") {
		name, at := device.String("name"), device.String("devicePath")
		device.Require("name")
		if takenNames[name] {
			device.Invalid("name", "must be unique")
		}
		switch volume, ok := r.volumes[name]; {
		case !ok:
			device.Add(validation.NotFound(device.At("name"), name))
		case !volume.Has("persistentVolumeClaim") && !volume.Has("ephemeral"):
			device.Invalid("name", "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		device.Require("devicePath")
		if takenPaths[at] {
			device.Invalid("devicePath", "must be unique")
		}
		if volumes.HasBacksteps(at) {
			device.Invalid("devicePath", "can not contain backsteps ('..')")
		} else {
			takenPaths[at] = true
		}
		if c.Contains("volumeMounts", "name", name) {
			device.Invalid("name", "must not already exist in volumeMounts")
		}
		if c.Contains("volumeMounts", "mountPath", at) {
			device.Invalid("devicePath", "must not already exist as a path in volumeMounts")
		}
		if name != "" {
			takenNames[name] = true
		}
	}
}

// checkResizePolicy validates resizePolicy. kube-apiserver reports most of the
// errors at the list without an index.
func (r *podRules) checkResizePolicy(c validation.View) {
	if c.Len("resizePolicy") == 0 {
		return
	}
	seen, list := validation.Seen{}, c.At("resizePolicy")
	for _, policy := range c.Each("resizePolicy") {
		resource, restart := policy.String("resourceName"), policy.String("restartPolicy")
		name := validation.AsGoType("core.ResourceName=s", resource)
		if seen[resource] {
			c.Add(validation.Duplicate(policy.Path, name))
		}
		seen[resource] = true
		checkOneOfAt(c, list, name, resource, "cpu", "memory")
		checkOneOfAt(c, list, validation.NamedString(restart), restart, "NotRequired", "RestartContainer")
		if r.spec.String("restartPolicy") == "Never" && restart != "NotRequired" {
			c.Add(validation.Invalid(list, validation.NamedString(restart), "must be 'NotRequired' when pod `restartPolicy` is 'Never'").Before(behavior.ContainerRestartTexts, validation.Detail("must be 'NotRequired' when `restartPolicy` is 'Never'")))
		}
	}
}

// checkOneOfAt reports an error at path, which quotes bad, unless value is one of values.
func checkOneOfAt(p validation.View, path *validation.Path, bad any, value string, values ...string) {
	switch {
	case value == "":
		p.Add(validation.Required(path, ""))
	case !slices.Contains(values, value):
		p.Add(validation.NotSupported(path, bad, values))
	}
}

const (
	maxRestartRules = 20
	maxExitCodes    = 255

	rulesNeedPolicy = "must specify restartPolicy when restart rules are used"

	// restartRules is the gate of restart policies of containers, but for Always in init
	// containers.
	restartRules = "ContainerRestartRules"

	// restartAll is the gate of rules that restart all containers, and of rules of sidecars.
	restartAll = "RestartAllContainersOnContainerExits"
)

// checkRestartRules validates restartPolicy and restartPolicyRules of a container.
func checkRestartRules(c validation.View) {
	if c.Has("restartPolicy") || c.Len("restartPolicyRules") > 0 {
		c.AddList(validation.Collect(c.Obj, c.Path, checkGatedRestartRules).WithGate(restartRules))
	}
}

// checkSidecarRestartRules is checkRestartRules for a sidecar.
func checkSidecarRestartRules(c validation.View) {
	c.AddList(validation.Collect(c.Obj, c.Path, checkRestartRules).WithGate(restartAll))
	if c.Len("restartPolicyRules") > 0 {
		c.Add(validation.Forbidden(c.At("restartPolicyRules"), "restartPolicyRules are not allowed for init containers with restart policy Always").
			WithGate(restartRules, nil).WithoutGate(restartAll))
	}
}

// checkRestartAction validates the action of a restart rule.
func checkRestartAction(rule validation.View) {
	const one, all = "Restart", "RestartAllContainers"
	path, action := rule.At("action"), validation.NamedString(rule.String("action"))
	without := validation.NotSupported(path, action, []string{one})
	switch action {
	case one:
	case all:
		rule.Add(without.WithoutGate(restartAll))
	default:
		rule.Add(validation.NotSupported(path, action, []string{one, all}).WithGate(restartAll, without).Before(behavior.ContainerRestartTexts, validation.Instead(without)))
	}
}

// checkGatedRestartRules is checkRestartRules with its gate.
func checkGatedRestartRules(c validation.View) {
	if !c.Has("restartPolicy") {
		c.Required("restartPolicy", rulesNeedPolicy)
	}
	c.OneOfIfSet("restartPolicy", "Always", "Never", "OnFailure")
	if n := c.Len("restartPolicyRules"); n > maxRestartRules {
		path := c.At("restartPolicyRules")
		c.Add(validation.TooMany(path, n, maxRestartRules).Before(behavior.ContainerRestartTexts, validation.Instead(validation.TooLong(path, maxRestartRules))))
	}
	for _, rule := range c.Each("restartPolicyRules") {
		checkRestartAction(rule)
		codes, ok := rule.Lookup("exitCodes")
		if !ok {
			rule.Required("exitCodes", "must be specified")
			continue
		}
		codes.OneOf("operator", "In", "NotIn")
		if n := codes.Len("values"); n > maxExitCodes {
			path := codes.At("values")
			codes.Add(validation.TooMany(path, n, maxExitCodes).Before(behavior.ContainerRestartTexts, validation.Instead(validation.TooLong(path, maxExitCodes))))
		}
	}
}

func (r *podRules) checkLifecycle(c validation.View) {
	lifecycle, ok := c.Lookup("lifecycle")
	if !ok {
		return
	}
	lifecycle.IfPresent("postStart", r.checkHandler)
	lifecycle.IfPresent("preStop", r.checkHandler)
	if !lifecycle.Has("stopSignal") {
		return
	}
	switch object.String(r.spec.Obj, "os", "name") {
	case "":
		if !r.spec.Has("os") {
			lifecycle.Forbidden("stopSignal", "may not be set for containers with empty `spec.os.name`")
		}
	case "windows":
		lifecycle.OneOf("stopSignal", "SIGKILL", "SIGTERM")
	case "linux":
		lifecycle.OneOf("stopSignal", linuxSignals()...)
	}
}

func (r *podRules) checkProbes(c validation.View) {
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probe, ok := c.Lookup(name)
		if !ok {
			continue
		}
		r.checkHandler(probe)
		probe.NonNegative("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
		if probe.Has("terminationGracePeriodSeconds") && probe.Int("terminationGracePeriodSeconds") <= 0 {
			probe.Invalid("terminationGracePeriodSeconds", "must be greater than 0")
		}
		switch {
		case name != "readinessProbe":
			if n := probe.Int("successThreshold"); n != 1 {
				probe.Add(validation.Invalid(probe.At("successThreshold"), n, "must be 1"))
			}
		case probe.Has("terminationGracePeriodSeconds"):
			probe.Invalid("terminationGracePeriodSeconds", "must not be set for readinessProbes")
		}
	}
}

// checkHandler checks that a probe or lifecycle event has exactly one handler, and
// validates it.
func (r *podRules) checkHandler(p validation.View) {
	handlers := 0
	for _, h := range [...]struct {
		name string
		rule func(validation.View)
	}{
		{"exec", func(exec validation.View) { exec.Require("command") }},
		{"httpGet", checkHttpGet},
		{"tcpSocket", checkPortReference},
		{"grpc", checkGRPC},
		{"sleep", r.checkSleep},
	} {
		handler, ok := p.Lookup(h.name)
		if !ok {
			continue
		}
		if handlers++; handlers > 1 {
			p.Forbidden(h.name, "may not specify more than 1 handler type")
			continue
		}
		h.rule(handler)
	}
	if handlers == 0 {
		p.Add(validation.Required(p.Path, "must specify a handler type"))
	}
}

func checkHttpGet(p validation.View) {
	p.Require("path")
	checkPortReference(p)
	p.OneOf("scheme", "HTTP", "HTTPS")
	for _, header := range p.Each("httpHeaders") {
		name := header.String("name")
		p.AddList(validation.Each(p.At("httpHeaders"), name, validation.HTTPHeaderName(name)))
	}
	if !p.OneOfIfSet("protocol", "HTTP1", "HTTP2") || p.String("protocol") != "HTTP2" {
		return
	}
	switch {
	case p.String("scheme") != "HTTP":
		p.InvalidNamed("protocol", "is only supported with HTTP (H2C)")
	case p.String("host") != "":
		p.InvalidString("host", "must be empty when `protocol` is \"HTTP2\"")
	}
}

func checkGRPC(p validation.View) {
	checkPortReference(p)
	p.OneOfIfSet("mode", "Plaintext", "TLS")
}

// checkPortReference validates the port of a handler, a number or a name.
func checkPortReference(p validation.View) {
	if name, ok := p.Obj["port"].(string); ok {
		p.AddList(validation.Each(p.At("port"), name, validation.PortName(name)))
		return
	}
	p.InRange("port", 1, 65535)
}

func (r *podRules) checkSleep(p validation.View) {
	const gate = "PodLifecycleSleepActionAllowZero"
	seconds := p.Int("seconds")
	notZero := func() *validation.Error {
		return validation.Invalid(p.Path, seconds, fmt.Sprintf(
			"must be greater than 0 and less than terminationGracePeriodSeconds (%d). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.", r.grace))
	}
	switch {
	case seconds < 0 || seconds > r.grace:
		p.Add(validation.Invalid(p.Path, seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", r.grace)).WithGate(gate, notZero()))
	case seconds == 0:
		p.Add(notZero().WithoutGate(gate))
	}
}

// checkFilePath checks that the path of a file in a volume is relative, has no
// element ".." and does not start with "..".
func checkFilePath(p validation.View, name string) {
	value := p.String(name)
	if value == "" {
		return
	}
	volumes.CheckDescendingPath(p, name)
	if strings.HasPrefix(value, "..") && !strings.HasPrefix(value, "../") {
		p.Invalid(name, "must not start with '..'")
	}
}

// linuxSignals returns the supported values of stopSignal on Linux, sorted.
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
