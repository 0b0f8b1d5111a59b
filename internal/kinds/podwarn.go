package kinds

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A warner collects what a client is to be told of a valid object.
type warner struct{ warnings []string }

// at warns of what is at a path.
func (w *warner) at(path *validation.Path, format string, args ...any) {
	w.warnings = append(w.warnings, path.String()+": "+fmt.Sprintf(format, args...))
}

// warnPod warns of a new pod. Those who update pods are mostly no people.
func warnPod(pod, old map[string]any) []string {
	if old != nil {
		return nil
	}
	w := &warner{}
	p := part{obj: pod}
	if annotations, ok := p.within("metadata").given("annotations"); ok {
		for c := range eachContainer(p.within("spec")) {
			w.copiedAppArmor(c, annotations)
		}
	}
	name := object.String(pod, "metadata", "name")
	if messages := validation.DNS1123Label(name); len(messages) > 0 {
		w.at(metadataNamePath, "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", messages)
	}
	w.pod(p)
	return w.warnings
}

// warnPodStatus warns of how addresses are written.
func warnPodStatus(pod, _ map[string]any) (warnings []string) {
	status := part{obj: pod}.within("status")
	for _, list := range []string{"podIPs", "hostIPs"} {
		for _, ip := range status.each(list) {
			warnings = append(warnings, validation.IPWarnings(ip.text("ip"), ip.at("ip"))...)
		}
	}
	return warnings
}

var metadataNamePath = validation.NewPath("metadata", "name")

// warnPodTemplateObject warns of an object that is a template alone.
func warnPodTemplateObject(obj, _ map[string]any) []string {
	return warnPodTemplate(object.Map(obj, "template"), validation.NewPath("template"))
}

// warnPodTemplate warns of the pod template at path.
func warnPodTemplate(template map[string]any, path *validation.Path) []string {
	w := &warner{}
	w.pod(part{obj: template, path: path})
	return w.warnings
}

// pod warns of a pod, or of a template, which has a path.
func (w *warner) pod(p part) {
	annotations, spec := p.within("metadata").within("annotations"), p.within("spec")
	w.placement(spec)
	for _, deprecated := range deprecatedAnnotations {
		if annotations.has(deprecated.name) {
			w.at(annotations.path.Key(deprecated.name), "%s", deprecated.why)
		}
	}
	w.volumes(spec)
	w.duplicates(spec)
	for _, name := range fractional {
		if q := object.String(spec.obj, "overhead", name); !isWhole(q) {
			w.at(spec.at("overhead").Key(name), "fractional byte value %q is invalid, must be an integer", q)
		}
	}
	if annotations.has(seccompAnnotation) && !spec.within("securityContext").has("seccompProfile") {
		w.at(annotations.path.Key(seccompAnnotation), useSeccompField)
	}
	for c := range eachContainer(spec) {
		w.container(c, spec, annotations, p.path != nil)
	}
	w.ports(spec)
	if spec.integer("terminationGracePeriodSeconds") < 0 {
		w.at(spec.at("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	spec.ifGiven("affinity", w.podAffinity)
	for i, server := range spec.within("dnsConfig").texts("nameservers") {
		w.warnings = append(w.warnings, validation.IPWarnings(server, spec.at("dnsConfig").Child("nameservers").Index(i))...)
	}
	for _, alias := range spec.each("hostAliases") {
		w.warnings = append(w.warnings, validation.IPWarnings(alias.text("ip"), alias.at("ip"))...)
	}
}

const (
	matchesNothing   = "a null labelSelector results in matching no pod"
	useSeccompField  = `non-functional in v1.27+; use the "seccompProfile" field instead`
	useAppArmorField = `deprecated since v1.30; use the "appArmorProfile" field instead`
)

// A deprecated name is one that is not to be used any more.
type deprecated struct{ name, why string }

var deprecatedAnnotations = []deprecated{
	{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
	{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
}

// deprecatedNodeLabels are the labels of nodes that have got another name.
var deprecatedNodeLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// placement warns of how nodes are chosen.
func (w *warner) placement(spec part) {
	for label := range spec.entries("nodeSelector") {
		if why := deprecatedNodeLabels[label]; why != "" {
			w.at(spec.at("nodeSelector").Key(label), "%s", why)
		}
	}
	if affinity, ok := spec.given("affinity"); ok {
		w.nodeAffinity(affinity.within("nodeAffinity"))
	}
	for _, constraint := range spec.each("topologySpreadConstraints") {
		key := constraint.text("topologyKey")
		if why := deprecatedNodeLabels[key]; why != "" {
			w.at(constraint.at("topologyKey"), "%s is %s", key, why)
		}
		if !constraint.has("labelSelector") {
			w.at(constraint.at("labelSelector"), matchesNothing)
		}
	}
}

func (w *warner) nodeAffinity(nodes part) {
	for _, term := range nodes.within(requiredDuring).each("nodeSelectorTerms") {
		w.nodeSelectorTerm(term, false)
	}
	for _, term := range nodes.each(preferredDuring) {
		w.nodeSelectorTerm(term.within("preference"), true)
	}
}

// nodeSelectorTerm warns of the labels in a term, and of values that no label
// can have where those are taken.
func (w *warner) nodeSelectorTerm(term part, anyValue bool) {
	for _, expression := range term.each("matchExpressions") {
		key := expression.text("key")
		if why := deprecatedNodeLabels[key]; why != "" {
			w.at(expression.at("key"), "%s is %s", key, why)
		}
		if !anyValue {
			continue
		}
		for i, value := range expression.texts("values") {
			for _, message := range validation.LabelValue(value) {
				w.at(expression.at("values").Index(i), "%s is invalid, %s", value, message)
			}
		}
	}
}

// podAffinity warns of terms that select no pods.
func (w *warner) podAffinity(affinity part) {
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		for _, term := range affinity.within(kind).each(requiredDuring) {
			if !term.has("labelSelector") {
				w.at(term.at("labelSelector"), matchesNothing)
			}
		}
		for _, weighted := range affinity.within(kind).each(preferredDuring) {
			if term := weighted.within("podAffinityTerm"); !term.has("labelSelector") {
				w.at(term.at("labelSelector"), matchesNothing)
			}
		}
	}
}

// deprecatedVolumes are the volumes whose drivers are gone or going, in the order
// in which they are told.
var deprecatedVolumes = []deprecated{
	{"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
	{"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
	{"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
	{"flocker", "deprecated in v1.22, non-functional in v1.25+"},
	{"storageos", "deprecated in v1.22, non-functional in v1.25+"},
	{"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
	{"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
	{"ephemeral", ""}, // not deprecated: told of its claim
	{"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
	{"rbd", "deprecated in v1.28, non-functional in v1.31+"},
}

func (w *warner) volumes(spec part) {
	for _, v := range spec.each("volumes") {
		for _, d := range deprecatedVolumes {
			switch {
			case !v.has(d.name):
			case d.name == "storageos":
				w.at(v.at("storageOS"), "%s", d.why)
			case d.name == "ephemeral":
				w.claimSpec(v.within("ephemeral").within("volumeClaimTemplate").within("spec"))
			default:
				w.at(v.at(d.name), "%s", d.why)
			}
		}
	}
	for _, v := range spec.each("volumes") {
		w.overlaps(v)
	}
}

// claimSpec warns of the specification of a persistent volume claim.
func (w *warner) claimSpec(p part) {
	for _, kind := range []string{"requests", "limits"} {
		if q := object.String(p.obj, "resources", kind, "storage"); !isWhole(q) {
			w.at(p.at("resources").Child(kind).Key("storage"), "fractional byte value %q is invalid, must be an integer", q)
		}
	}
}

// A volumeFile is a path in a volume and what puts it there.
type volumeFile struct{ path, source string }

func (f volumeFile) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// overlaps warns of files in a volume that stand in each other's way.
func (w *warner) overlaps(v part) {
	name := v.text("name")
	within := func(what string, files []volumeFile) {
		var placed []volumeFile
		for _, file := range files {
			file.path = strings.TrimRight(file.path, "/")
			for _, other := range placed {
				if file.overlaps(other) {
					w.warnings = append(w.warnings, fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", name, what, file, other))
				}
			}
			placed = append(placed, file)
		}
	}
	v.ifGiven("configMap", func(p part) { within(fmt.Sprintf("ConfigMap %q", p.text("name")), filesOf(p, "")) })
	v.ifGiven("secret", func(p part) { within(fmt.Sprintf("Secret %q", p.text("secretName")), filesOf(p, "")) })
	v.ifGiven("downwardAPI", func(p part) { within("DownwardAPI", filesOf(p, "")) })
	v.ifGiven("projected", func(p part) {
		var files []volumeFile
		for _, source := range p.each("sources") {
			if len(source.obj) == 0 {
				w.warnings = append(w.warnings, fmt.Sprintf("volume %q (Projected) has no sources provided", name))
			}
			files = append(files, projectedFiles(source)...)
		}
		within("Projected", files)
	})
}

// overlaps reports whether two files have one path, or one has to be a directory
// for the other.
func (f volumeFile) overlaps(other volumeFile) bool {
	return f.path != "" && other.path != "" &&
		(strings.HasPrefix(f.path+"/", other.path+"/") || strings.HasPrefix(other.path+"/", f.path+"/"))
}

// filesOf are the files of the items that a source lists.
func filesOf(p part, source string) (files []volumeFile) {
	for _, item := range p.each("items") {
		files = append(files, volumeFile{item.text("path"), source})
	}
	return files
}

// projectedFiles are the files of one source of a projected volume.
func projectedFiles(source part) (files []volumeFile) {
	source.ifGiven("configMap", func(p part) { files = append(files, filesOf(p, fmt.Sprintf("ConfigMap %q", p.text("name")))...) })
	source.ifGiven("secret", func(p part) { files = append(files, filesOf(p, fmt.Sprintf("Secret %q", p.text("name")))...) })
	source.ifGiven("downwardAPI", func(p part) { files = append(files, filesOf(p, "DownwardAPI")...) })
	source.ifGiven("serviceAccountToken", func(p part) { files = append(files, volumeFile{p.text("path"), "ServiceAccountToken"}) })
	source.ifGiven("clusterTrustBundle", func(p part) {
		name := p.text("name")
		if !p.has("name") {
			name = p.text("signerName")
		}
		files = append(files, volumeFile{p.text("path"), fmt.Sprintf("ClusterTrustBundle %q", name)})
	})
	source.ifGiven("podCertificate", func(p part) {
		for _, f := range []volumeFile{{"certificateChainPath", "chain"}, {"keyPath", "key"}, {"credentialBundlePath", "credential bundle"}} {
			if path := p.text(f.path); path != "" {
				files = append(files, volumeFile{path, "PodCertificate " + f.source})
			}
		}
	})
	return files
}

// duplicates warns of what is listed twice.
func (w *warner) duplicates(spec part) {
	seen := names{}
	for _, alias := range spec.each("hostAliases") {
		ip := alias.text("ip")
		if seen[ip] {
			w.at(alias.at("ip"), "duplicate ip %q", ip)
		}
		seen[ip] = true
	}
	seen = names{}
	for _, secret := range spec.each("imagePullSecrets") {
		name := secret.text("name")
		if seen[name] {
			w.at(secret.at("name"), "duplicate name %q", name)
		}
		seen[name] = true
	}
	for _, secret := range spec.each("imagePullSecrets") {
		if secret.text("name") == "" {
			w.at(secret.at("name"), `invalid empty name ""`)
		}
	}
}

// fractional are the resources of which there are only whole bytes.
var fractional = []string{"memory", "ephemeral-storage"}

func (w *warner) container(c, spec, annotations part, inTemplate bool) {
	if len(annotations.obj) > 0 {
		w.profiles(c, spec, annotations, inTemplate)
	}
	for _, name := range fractional {
		for _, kind := range []string{"limits", "requests"} {
			if q := object.String(c.obj, "resources", kind, name); !isWhole(q) {
				w.at(c.at("resources").Child(kind).Key(name), "fractional byte value %q is invalid, must be an integer", q)
			}
		}
	}
	if c.size("env") < 2 {
		return
	}
	seen := names{}
	for _, variable := range c.each("env") {
		name := variable.text("name")
		if seen[name] && hidesPrevious(variable) {
			w.at(variable.path, "hides previous definition of %q, which may be dropped when using apply", name)
		}
		seen[name] = true
	}
}

// profiles warns of annotations that name profiles of a container, which fields
// do not.
func (w *warner) profiles(c, spec, annotations part, inTemplate bool) {
	context := c.within("securityContext")
	if key := seccompPrefix + c.text("name"); annotations.has(key) && !context.has("seccompProfile") {
		w.at(annotations.path.Key(key), useSeccompField)
	}
	if key := appArmorPrefix + c.text("name"); inTemplate && annotations.has(key) && !context.has("appArmorProfile") {
		ofPod := object.Value(spec.obj, "securityContext", "appArmorProfile")
		if ofPod == nil || !validation.Equal(ofPod, appArmorProfile(annotations.text(key))) {
			w.at(annotations.path.Key(key), useAppArmorField)
		}
	}
}

// copiedAppArmor warns of an annotation that names the AppArmor profile of a
// pod's container: one that has been copied into the container's field, or that
// names none.
//
// Differs from kube-apiserver: that does not warn where the field said the same
// before.
func (w *warner) copiedAppArmor(c, annotations part) {
	key := appArmorPrefix + c.text("name")
	if !annotations.has(key) {
		return
	}
	own, profile := c.within("securityContext").obj["appArmorProfile"], appArmorProfile(annotations.text(key))
	if own == nil && profile == nil || own != nil && validation.Equal(own, profile) {
		w.at(annotations.path.Key(key), useAppArmorField)
	}
}

// hidesPrevious reports whether an environment variable of a name that is taken
// makes nothing of the value it had.
func hidesPrevious(variable part) bool {
	reference := "$(" + variable.text("name") + ")"
	value := variable.text("value")
	return variable.has("valueFrom") || value == reference || !strings.Contains(value, reference)
}

// ports warns of ports that get in each other's way.
func (w *warner) ports(spec part) {
	type number struct {
		port     int64
		protocol string
	}
	byPort := map[number][]part{}
	for c := range eachContainer(spec) {
		for _, port := range c.each("ports") {
			hostIP, hostPort := port.text("hostIP"), port.integer("hostPort")
			if hostIP != "" && hostPort == 0 {
				w.at(port.path, "hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}",
					port.text("name"), hostPort, port.integer("containerPort"), port.text("protocol"), hostIP)
			}
			key := number{port.integer("containerPort"), port.text("protocol")}
			for _, other := range byPort[key] {
				otherIP, otherPort := other.text("hostIP"), other.integer("hostPort")
				switch {
				case hostIP == otherIP && hostPort == otherPort:
					w.at(port.path, "duplicate port definition with %s", other.path)
				case hostPort == 0 || otherPort == 0:
					w.at(port.path, "overlapping port definition with %s", other.path)
				case hostPort == otherPort && (hostIP == "") != (otherIP == ""):
					w.at(port.path, "dangerously ambiguous port definition with %s", other.path)
				}
			}
			byPort[key] = append(byPort[key], port)
		}
	}
	byName := map[string]*validation.Path{}
	for c := range eachContainer(spec) {
		for _, port := range c.each("ports") {
			name := port.text("name")
			if name == "" {
				continue
			}
			if other, ok := byName[name]; ok {
				w.at(port.path, "duplicate port name %q with %s, services and probes that select ports by name will use %s", name, other, other)
			} else {
				byName[name] = port.path
			}
		}
	}
}
