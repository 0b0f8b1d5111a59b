package pods

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// A warner collects the warnings of a release.
type warner struct {
	release  validation.Release
	warnings []string
}

// at adds a warning about the field at path.
func (w *warner) at(path *validation.Path, format string, args ...any) {
	w.warnings = append(w.warnings, path.String()+": "+fmt.Sprintf(format, args...))
}

// warnPod returns the warnings for a new Pod. Updates get none.
func warnPod(r validation.Release, pod map[string]any, old object.View) []string {
	if !old.IsNil() {
		return nil
	}
	w := &warner{release: r}
	w.podName(pod)
	w.pod(pod, nil)
	return w.warnings
}

// warnPodMetadata is warnPod for a new Pod about whose spec there are no warnings.
func warnPodMetadata(r validation.Release, pod map[string]any) []string {
	if len(object.Map(pod, "metadata", "annotations")) > 0 {
		return warnPod(r, pod, object.View{})
	}
	w := &warner{release: r}
	w.podName(pod)
	return w.warnings
}

// podName warns about a name that is not a DNS label.
func (w *warner) podName(pod map[string]any) {
	if messages := validation.DNS1123Label(object.String(pod, "metadata", "name")); len(messages) > 0 {
		w.at(validation.NewPath("metadata", "name"), "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", messages)
	}
}

// warnPodStatus warns about addresses that are not in canonical form.
func warnPodStatus(pod map[string]any, _ object.View) (warnings []string) {
	status := validation.View{Obj: pod}.Field("status")
	for _, list := range []string{"podIPs", "hostIPs"} {
		for _, ip := range status.Each(list) {
			warnings = append(warnings, validation.IPWarnings(ip.String("ip"), ip.At("ip"))...)
		}
	}
	return warnings
}

// WarnPodTemplate returns the warnings for the pod template at path.
func WarnPodTemplate(r validation.Release, template map[string]any, path *validation.Path) []string {
	w := &warner{release: r}
	w.pod(template, path)
	return w.warnings
}

// pod warns about a Pod or a pod template. Only a template has a path.
func (w *warner) pod(obj map[string]any, path *validation.Path) {
	p := validation.View{Obj: obj, Path: path, Errs: &validation.Errors{}}
	annotations, spec := p.Field("metadata").Field("annotations"), p.Field("spec")
	w.scheduling(spec)
	for _, deprecated := range deprecatedAnnotations {
		if annotations.Has(deprecated.name) {
			w.at(annotations.Path.Key(deprecated.name), "%s", deprecated.why)
		}
	}
	w.volumes(spec)
	w.duplicates(spec)
	for _, name := range byteResources {
		if q := object.String(spec.Obj, "overhead", name); !quantity.IsInteger(q) {
			w.at(spec.At("overhead").Key(name), "fractional byte value %q is invalid, must be an integer", q)
		}
	}
	if annotations.Has(seccompAnnotation) && !spec.Field("securityContext").Has("seccompProfile") {
		w.at(annotations.Path.Key(seccompAnnotation), useSeccompField)
	}
	for c := range eachContainer(spec) {
		w.container(c, spec, annotations, p.Path != nil)
	}
	w.ports(spec)
	if spec.Int("terminationGracePeriodSeconds") < 0 {
		w.at(spec.At("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	spec.IfPresent("affinity", w.podAffinity)
	for i, server := range spec.Field("dnsConfig").Strings("nameservers") {
		w.warnings = append(w.warnings, validation.IPWarnings(server, spec.At("dnsConfig").Child("nameservers").Index(i))...)
	}
	for _, alias := range spec.Each("hostAliases") {
		w.warnings = append(w.warnings, validation.IPWarnings(alias.String("ip"), alias.At("ip"))...)
	}
}

const (
	matchesNothing   = "a null labelSelector results in matching no pod"
	useSeccompField  = `non-functional in v1.27+; use the "seccompProfile" field instead`
	useAppArmorField = `deprecated since v1.30; use the "appArmorProfile" field instead`
)

// A deprecated names a deprecated field or annotation. why is the text of the
// warning.
type deprecated struct{ name, why string }

var deprecatedAnnotations = []deprecated{
	{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
	{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
}

// scheduling warns about the fields that select nodes.
func (w *warner) scheduling(spec validation.View) {
	for label := range spec.Entries("nodeSelector") {
		if why := nodes.DeprecatedLabel(label); why != "" {
			w.at(spec.At("nodeSelector").Key(label), "%s", why)
		}
	}
	if affinity, ok := spec.Lookup("affinity"); ok {
		w.nodeAffinity(affinity.Field("nodeAffinity"))
	}
	for _, constraint := range spec.Each("topologySpreadConstraints") {
		key := constraint.String("topologyKey")
		if why := nodes.DeprecatedLabel(key); why != "" {
			w.at(constraint.At("topologyKey"), "%s is %s", key, why)
		}
		if !constraint.Has("labelSelector") {
			w.at(constraint.At("labelSelector"), matchesNothing)
		}
	}
}

func (w *warner) nodeAffinity(nodes validation.View) {
	for _, term := range nodes.Field(requiredDuring).Each("nodeSelectorTerms") {
		w.nodeSelectorTerm(term, false)
	}
	for _, term := range nodes.Each(preferredDuring) {
		w.nodeSelectorTerm(term.Field("preference"), true)
	}
}

// nodeSelectorTerm warns about deprecated labels and, if allowInvalidValues is set,
// about values that are not label values.
func (w *warner) nodeSelectorTerm(term validation.View, allowInvalidValues bool) {
	for _, expression := range term.Each("matchExpressions") {
		key := expression.String("key")
		if why := nodes.DeprecatedLabel(key); why != "" {
			w.at(expression.At("key"), "%s is %s", key, why)
		}
		if !allowInvalidValues {
			continue
		}
		for i, value := range expression.Strings("values") {
			for _, message := range validation.LabelValue(value) {
				w.at(expression.At("values").Index(i), "%s is invalid, %s", value, message)
			}
		}
	}
}

// podAffinity warns about terms without a label selector. They match no Pods.
func (w *warner) podAffinity(affinity validation.View) {
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		for _, term := range affinity.Field(kind).Each(requiredDuring) {
			if !term.Has("labelSelector") {
				w.at(term.At("labelSelector"), matchesNothing)
			}
		}
		for _, weighted := range affinity.Field(kind).Each(preferredDuring) {
			if term := weighted.Field("podAffinityTerm"); !term.Has("labelSelector") {
				w.at(term.At("labelSelector"), matchesNothing)
			}
		}
	}
}

// deprecatedVolumes are the deprecated volume sources, in the order of the warnings.
var deprecatedVolumes = []deprecated{
	{"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
	{"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
	{"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
	{"flocker", "deprecated in v1.22, non-functional in v1.25+"},
	{"storageos", "deprecated in v1.22, non-functional in v1.25+"},
	{"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
	{"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
	{"ephemeral", ""}, // not deprecated: warns about its claim template
	{"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
	{"rbd", "deprecated in v1.28, non-functional in v1.31+"},
}

func (w *warner) volumes(spec validation.View) {
	for _, v := range spec.Each("volumes") {
		for _, d := range deprecatedVolumes {
			switch {
			case !v.Has(d.name):
			case d.name == "gitRepo" && w.release.Enabled("GitRepoVolumeDriver"):
				w.at(v.At(d.name), "deprecated in v1.11")
			case d.name == "storageos":
				w.at(v.At("storageOS"), "%s", d.why)
			case d.name == "ephemeral":
				w.claimSpec(v.Field("ephemeral").Field("volumeClaimTemplate").Field("spec"))
			default:
				w.at(v.At(d.name), "%s", d.why)
			}
		}
	}
	for _, v := range spec.Each("volumes") {
		w.overlappingFiles(v)
	}
}

// claimSpec warns about the spec of a claim template.
func (w *warner) claimSpec(p validation.View) {
	for _, kind := range []string{"requests", "limits"} {
		if q := object.String(p.Obj, "resources", kind, "storage"); !quantity.IsInteger(q) {
			w.at(p.At("resources").Child(kind).Key("storage"), "fractional byte value %q is invalid, must be an integer", q)
		}
	}
}

// A volumeFile is the path of a file in a volume, and the source of the file.
type volumeFile struct{ path, source string }

func (f volumeFile) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// overlappingFiles warns about overlapping paths in a volume.
func (w *warner) overlappingFiles(v validation.View) {
	name := v.String("name")
	within := func(what string, seen, files []volumeFile) []volumeFile {
		for _, file := range files {
			file.path = strings.TrimRight(file.path, "/")
			for _, other := range seen {
				if file.overlaps(other) {
					w.warnings = append(w.warnings, fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", name, what, file, other))
				}
			}
			seen = append(seen, file)
		}
		return seen
	}
	v.IfPresent("configMap", func(p validation.View) { within(fmt.Sprintf("ConfigMap %q", p.String("name")), nil, filesOf(p, "")) })
	v.IfPresent("secret", func(p validation.View) { within(fmt.Sprintf("Secret %q", p.String("secretName")), nil, filesOf(p, "")) })
	v.IfPresent("downwardAPI", func(p validation.View) { within("DownwardAPI", nil, filesOf(p, "")) })
	v.IfPresent("projected", func(p validation.View) {
		var seen, named []volumeFile
		for _, source := range p.Each("sources") {
			if len(source.Obj) == 0 {
				w.warnings = append(w.warnings, fmt.Sprintf("volume %q (Projected) has no sources provided", name))
				continue
			}
			// Before v1.34 a source that names no files counts as the one before it.
			if of, ok := projectedFiles(source); ok || w.release.Has(behavior.ProjectedSourcesApart) {
				named = of
			}
			seen = within("Projected", seen, named)
		}
	})
}

// overlaps reports whether the paths are equal or one is a directory of the other.
func (f volumeFile) overlaps(other volumeFile) bool {
	return f.path != "" && other.path != "" &&
		(strings.HasPrefix(f.path+"/", other.path+"/") || strings.HasPrefix(other.path+"/", f.path+"/"))
}

// filesOf returns the files that the items of p create.
func filesOf(p validation.View, source string) (files []volumeFile) {
	for _, item := range p.Each("items") {
		files = append(files, volumeFile{item.String("path"), source})
	}
	return files
}

// projectedFiles returns the files that one source of a projected volume names. ok is false
// if the source names none.
func projectedFiles(source validation.View) (files []volumeFile, ok bool) {
	if p := source.Field("configMap"); p.Has("items") {
		return filesOf(p, fmt.Sprintf("ConfigMap %q", p.String("name"))), true
	}
	if p := source.Field("secret"); p.Has("items") {
		return filesOf(p, fmt.Sprintf("Secret %q", p.String("name"))), true
	}
	if p := source.Field("downwardAPI"); p.Has("items") {
		return filesOf(p, "DownwardAPI"), true
	}
	if p, ok := source.Lookup("serviceAccountToken"); ok {
		return []volumeFile{{p.String("path"), "ServiceAccountToken"}}, true
	}
	if p, ok := source.Lookup("clusterTrustBundle"); ok {
		name := p.String("name")
		if !p.Has("name") {
			name = p.String("signerName")
		}
		return []volumeFile{{p.String("path"), fmt.Sprintf("ClusterTrustBundle %q", name)}}, true
	}
	p, ok := source.Lookup("podCertificate")
	for _, f := range []volumeFile{{"certificateChainPath", "chain"}, {"keyPath", "key"}, {"credentialBundlePath", "credential bundle"}} {
		if path := p.String(f.path); path != "" {
			files = append(files, volumeFile{path, "PodCertificate " + f.source})
		}
	}
	return files, ok
}

// duplicates warns about duplicate hostAliases and imagePullSecrets.
func (w *warner) duplicates(spec validation.View) {
	seen := validation.Seen{}
	for _, alias := range spec.Each("hostAliases") {
		ip := alias.String("ip")
		if seen[ip] {
			w.at(alias.At("ip"), "duplicate ip %q", ip)
		}
		seen[ip] = true
	}
	seen = validation.Seen{}
	for _, secret := range spec.Each("imagePullSecrets") {
		name := secret.String("name")
		if seen[name] {
			w.at(secret.At("name"), "duplicate name %q", name)
		}
		seen[name] = true
	}
	for _, secret := range spec.Each("imagePullSecrets") {
		if secret.String("name") == "" {
			w.at(secret.At("name"), `invalid empty name ""`)
		}
	}
}

// byteResources are the resources whose quantities must be whole bytes.
var byteResources = []string{"memory", "ephemeral-storage"}

func (w *warner) container(c, spec, annotations validation.View, inTemplate bool) {
	if len(annotations.Obj) > 0 {
		w.profileAnnotations(c, spec, annotations, inTemplate)
	}
	if resources, ok := c.Lookup("resources"); ok && len(resources.Obj) > 0 {
		limits, requests := resources.Field("limits"), resources.Field("requests")
		for _, name := range byteResources {
			for _, list := range [...]validation.View{limits, requests} {
				if q := list.String(name); !quantity.IsInteger(q) {
					w.at(list.Path.Key(name), "fractional byte value %q is invalid, must be an integer", q)
				}
			}
		}
	}
	if c.Len("env") < 2 {
		return
	}
	seen := validation.Seen{}
	for _, variable := range c.Each("env") {
		name := variable.String("name")
		if seen[name] && hidesPrevious(variable) {
			w.at(variable.Path, "hides previous definition of %q, which may be dropped when using apply", name)
		}
		seen[name] = true
	}
}

// profileAnnotations warns about deprecated seccomp and AppArmor annotations of a
// container that has no such field.
func (w *warner) profileAnnotations(c, spec, annotations validation.View, inTemplate bool) {
	context := c.Field("securityContext")
	if key := seccompPrefix + c.String("name"); annotations.Has(key) && !context.Has("seccompProfile") {
		w.at(annotations.Path.Key(key), useSeccompField)
	}
	if key := appArmorPrefix + c.String("name"); inTemplate && annotations.Has(key) && !context.Has("appArmorProfile") {
		ofPod := object.Value(spec.Obj, "securityContext", "appArmorProfile")
		if ofPod == nil || w.release.Has(behavior.ComparesAppArmorAnnotations) && !validation.Equal(ofPod, appArmorProfile(annotations.String(key))) {
			w.at(annotations.Path.Key(key), useAppArmorField)
		}
	}
}

// warnAppArmorAnnotations warns about the AppArmor annotations of a Pod's containers that
// copyAppArmorAnnotations copies to fields, or that are invalid.
func warnAppArmorAnnotations(pod map[string]any) []string {
	spec, annotations := object.Map(pod, "spec"), object.Map(pod, "metadata", "annotations")
	if len(annotations) == 0 || object.String(spec, "os", "name") == "windows" {
		return nil
	}
	w := &warner{}
	at := validation.NewPath("metadata").Child("annotations")
	for c := range AllContainers(spec) {
		key := appArmorPrefix + object.String(c, "name")
		text, ok := annotations[key].(string)
		if !ok || object.Value(c, "securityContext", "appArmorProfile") != nil {
			continue
		}
		if profile := appArmorProfile(text); profile == nil || !validation.Equal(profile, object.Value(spec, "securityContext", "appArmorProfile")) {
			w.at(at.Key(key), useAppArmorField)
		}
	}
	return w.warnings
}

// hidesPrevious reports whether an environment variable replaces an earlier one with
// the same name without using its value.
func hidesPrevious(variable validation.View) bool {
	reference := "$(" + variable.String("name") + ")"
	value := variable.String("value")
	return variable.Has("valueFrom") || value == reference || !strings.Contains(value, reference)
}

// ports warns about conflicting and duplicate ports.
func (w *warner) ports(spec validation.View) {
	type number struct {
		port     int64
		protocol string
	}
	var ports []validation.View
	for c := range eachContainer(spec) {
		for _, port := range c.Each("ports") {
			ports = append(ports, port)
		}
	}
	byPort := map[number][]validation.View{}
	for _, port := range ports {
		hostIP, hostPort := port.String("hostIP"), port.Int("hostPort")
		if hostIP != "" && hostPort == 0 {
			w.at(port.Path, "hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}",
				port.String("name"), hostPort, port.Int("containerPort"), port.String("protocol"), hostIP)
		}
		if len(ports) == 1 {
			return // there is no other
		}
		key := number{port.Int("containerPort"), port.String("protocol")}
		for _, other := range byPort[key] {
			otherIP, otherPort := other.String("hostIP"), other.Int("hostPort")
			switch {
			case hostIP == otherIP && hostPort == otherPort:
				w.at(port.Path, "duplicate port definition with %s", other.Path)
			case hostPort == 0 || otherPort == 0:
				w.at(port.Path, "overlapping port definition with %s", other.Path)
			case hostPort == otherPort && (hostIP == "") != (otherIP == ""):
				w.at(port.Path, "dangerously ambiguous port definition with %s", other.Path)
			}
		}
		byPort[key] = append(byPort[key], port)
	}
	byName := map[string]*validation.Path{}
	for _, port := range ports {
		name := port.String("name")
		if name == "" {
			continue
		}
		if other, ok := byName[name]; ok {
			w.at(port.Path, "duplicate port name %q with %s, services and probes that select ports by name will use %s", name, other, other)
		} else {
			byName[name] = port.Path
		}
	}
}
