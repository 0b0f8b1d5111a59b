package kinds

import (
	"fmt"
	"path"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

func validatePersistentVolume(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, persistentVolume(nil), mountOptions)
	}
	return mistakes(obj, nil, persistentVolume(old), mountOptions, persistentVolume(old), persistentVolumeUpdate(old))
}

// persistentVolume returns the rule of a volume's specification.
func persistentVolume(old map[string]any) func(part) {
	var anyLabelValue bool
	for term := range object.Each(object.Value(old, "spec", "nodeAffinity", "required", "nodeSelectorTerms")) {
		for e := range object.Each(term["matchExpressions"]) {
			for _, value := range object.Strings(e, "values") {
				anyLabelValue = anyLabelValue || len(validation.LabelValue(value)) > 0
			}
		}
	}
	return func(p part) {
		spec := p.within("spec")
		volumeAccess(spec)
		volumeCapacity(spec)
		if spec.text("persistentVolumeReclaimPolicy") != "" {
			spec.oneOf("persistentVolumeReclaimPolicy", "Delete", "Recycle", "Retain")
		}
		spec.ifGiven("nodeAffinity", func(affinity part) { volumeAffinity(affinity, anyLabelValue) })
		persistentSource(spec, p.within("metadata").text("name"))
		spec.ifSet("storageClassName", subdomain)
		spec.ifOneOf("volumeMode", "Block", "Filesystem")
		volumeAttributesClass(spec)
	}
}

// inlineVolume checks a volume that an attachment describes itself.
func inlineVolume(p part) {
	const inline = "may not be specified in the context of inline volumes"
	if p.has("claimRef") {
		p.forbid("claimRef", inline)
	}
	if p.size("capacity") > 0 {
		p.forbid("capacity", inline)
	}
	if !p.has("csi") {
		p.missing("csi", "has to be specified in the context of inline volumes")
	}
	volumeAccess(p)
	if policy := p.text("persistentVolumeReclaimPolicy"); policy != "" && policy != "Retain" {
		p.forbid("persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes")
	}
	if p.has("nodeAffinity") {
		p.forbid("nodeAffinity", inline)
	}
	persistentSource(p, "")
	if p.text("storageClassName") != "" {
		p.forbid("storageClassName", inline)
	}
	if p.has("volumeMode") && p.text("volumeMode") != "Filesystem" {
		p.forbid("volumeMode", "may not specify volumeMode other than Filesystem in the context of inline volumes")
	}
}

func volumeAccess(p part) {
	p.needs("accessModes")
	claimAccess(p)
}

func volumeCapacity(p part) {
	p.needs("capacity")
	capacity := object.Map(p.obj, "capacity")
	if !has(capacity, "storage") || len(capacity) > 1 {
		p.note(validation.NotSupported(p.at("capacity"), internal("{}q", p.obj["capacity"]), []string{"storage"}))
	}
	for resource, quantity := range p.quantities("capacity") {
		at := p.at("capacity").Key(resource)
		basicResource(p, quantity, at)
		p.add(positiveQuantity(quantity, at))
	}
}

// basicResource checks a quantity that is told as a number.
func basicResource(p part, quantity string, at *validation.Path) {
	if units := roundToUnits(quantity); compare(units, "0") < 0 {
		n, _ := nanos(units)
		p.note(validation.Invalid(at, n.Div(n, billion).Int64(), "must be a valid resource quantity"))
	}
}

func volumeAffinity(p part, anyLabelValue bool) {
	required, ok := p.given("required")
	if !ok {
		p.missing("required", "must specify required node constraints")
		return
	}
	if required.size("nodeSelectorTerms") == 0 || !anyLabelValue {
		nodeSelector(required)
		return
	}
	for _, term := range required.each("nodeSelectorTerms") {
		nodeSelectorTerm(term, true)
	}
}

// persistentSources are the members by which a persistent volume says what it
// is, in the order in which they are looked at.
var persistentSources = []struct {
	name string
	rule func(part)
}{
	{"hostPath", hostPath},
	{"gcePersistentDisk", gcePersistentDisk},
	{"awsElasticBlockStore", awsElasticBlockStore},
	{"glusterfs", persistentGlusterfs},
	{"flocker", flocker},
	{"nfs", nfsVolume},
	{"rbd", rbdVolume},
	{"quobyte", quobyte},
	{"cephfs", cephfsVolume},
	{"iscsi", persistentISCSI},
	{"cinder", namespacedSecret(cinderVolume)},
	{"fc", fibreChannel},
	{"flexVolume", flexVolume},
	{"azureFile", persistentAzureFile},
	{"vsphereVolume", func(p part) { p.needs("volumePath") }},
	{"photonPersistentDisk", func(p part) { p.needs("pdID") }},
	{"portworxVolume", func(p part) { p.needs("volumeID") }},
	{"azureDisk", azureDisk},
	{"scaleIO", scaleIO},
	{"local", localVolume},
	{"storageos", namespacedSecret(storageOS)},
	{"csi", persistentCSI},
}

// persistentSource checks that a persistent volume says in one way what it is.
func persistentSource(p part, name string) {
	sources := 0
	for i := range persistentSources {
		s := &persistentSources[i]
		source, ok := p.given(s.name)
		if !ok {
			continue
		}
		sources++
		if sources > 1 && s.name != "flexVolume" {
			p.forbidSource(s.name)
			continue
		}
		switch s.name {
		case "gcePersistentDisk":
			source.path = p.at("persistentDisk") // so kube-apiserver calls it
		case "iscsi":
			shortPortal(source, name)
		}
		s.rule(source)
		if s.name == "local" && !p.has("nodeAffinity") {
			p.missing("nodeAffinity", "Local volume requires node affinity")
		}
	}
	if sources == 0 {
		p.note(validation.Required(p.path, "must specify a volume type"))
	}
	if host, ok := p.given("hostPath"); ok && path.Clean(host.text("path")) == "/" && p.text("persistentVolumeReclaimPolicy") == "Recycle" {
		p.forbid("persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
	}
}

func persistentGlusterfs(p part) {
	glusterfs(p)
	if !p.has("endpointsNamespace") {
		return
	}
	if p.text("endpointsNamespace") == "" {
		p.invalidText("endpointsNamespace", "if the endpointnamespace is set, it must be a valid namespace name")
		return
	}
	p.is("endpointsNamespace", validation.DNS1123Label)
}

// shortPortal checks the length of a portal together with that of the volume's
// name, by which initiators are told apart.
func shortPortal(p part, volume string) {
	p.needs("targetPortal")
	if p.has("initiatorName") && len(volume+":"+p.text("targetPortal")) > maxPortal {
		p.note(validation.Invalid(p.at("targetportal"), p.text("targetPortal"), portalTooLong))
	}
}

func persistentISCSI(p part) {
	iscsiTarget(p, "must be valid format")
	p.ifGiven("secretRef", func(ref part) { ref.needs("name") })
	if p.has("initiatorName") {
		if known, valid := iscsiName(p.text("initiatorName")); !known || !valid {
			p.note(validation.Invalid(p.at("initiatorname"), p.text("initiatorName"), "must be valid format"))
		}
	}
}

// namespacedSecret adds to the rule of a source that the secret which it names
// has a namespace.
func namespacedSecret(rule func(part)) func(part) {
	return func(p part) {
		rule(p)
		p.ifGiven("secretRef", func(ref part) { ref.needs("namespace") })
	}
}

func persistentAzureFile(p part) {
	azureFile(p)
	if p.has("secretNamespace") {
		p.needs("secretNamespace")
	}
}

func localVolume(p part) {
	if p.needs("path") {
		noBacksteps(p, "path")
	}
}

func persistentCSI(p part) {
	csiDriverName(p, "driver")
	p.needs("volumeHandle")
	for _, name := range []string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		p.ifGiven(name, func(ref part) {
			ref.needsToBe("name", validation.DNS1123Subdomain)
			ref.needsToBe("namespace", validation.DNS1123Label)
		})
	}
}

func volumeAttributesClass(p part) {
	const name = "volumeAttributesClassName"
	if !p.has(name) {
		return
	}
	if p.text(name) == "" {
		p.missing(name, "an empty string is disallowed")
	} else {
		p.is(name, subdomain)
	}
	if !p.has("csi") {
		p.missing("csi", "has to be specified when using volumeAttributesClassName")
	}
}

// mounted are the sources that take mount options.
var mounted = []string{
	"gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs",
	"azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
}

const mountAnnotation = "volume.beta.kubernetes.io/mount-options"

func mountOptions(p part) {
	annotations := p.within("metadata").within("annotations")
	takes := slices.ContainsFunc(mounted, p.within("spec").has)
	if annotations.has(mountAnnotation) && !takes {
		annotations.forbid(mountAnnotation, "may not specify mount options for this volume type")
	}
}

// persistentVolumeUpdate returns the rule of what may become of a volume.
func persistentVolumeUpdate(old map[string]any) func(part) {
	return func(p part) {
		is, was := object.Map(p.obj, "spec"), object.Map(old, "spec")
		if before, after := sourceOf(was), sourceOf(is); !validation.Equal(before, withoutNewExpandSecret(after, before)) {
			after = withoutNewExpandSecret(after, before)
			p.note(validation.Forbidden(validation.NewPath("spec", "persistentvolumesource"),
				"spec.persistentvolumesource is immutable after creation\n"+unversioned.Diff("core.PersistentVolumeSource", before, after)))
		}
		part{is, nil, p.errs}.immutable("volumeMode", "*s", was)
		if affinity := was["nodeAffinity"]; affinity != nil && !sameAffinity(is["nodeAffinity"], affinity) {
			p.note(validation.Invalid(p.at("nodeAffinity"), internal("*core.VolumeNodeAffinity", is["nodeAffinity"]), "field is immutable, except for updating from beta label to GA"))
		}
		if was["volumeAttributesClassName"] != nil && is["volumeAttributesClassName"] == nil {
			p.within("spec").forbid("volumeAttributesClassName", "update from non-nil value to nil is forbidden")
		}
	}
}

// sourceOf are the members of a specification that say what a volume is.
func sourceOf(spec map[string]any) map[string]any {
	out := map[string]any{}
	for i := range persistentSources {
		if name := persistentSources[i].name; spec[name] != nil {
			out[name] = spec[name]
		}
	}
	return out
}

// withoutNewExpandSecret is a source without the secret for its expansion, which
// may come later.
func withoutNewExpandSecret(source, old map[string]any) map[string]any {
	const name = "controllerExpandSecretRef"
	csi, was := object.Map(source, "csi"), object.Map(old, "csi")
	if csi[name] == nil || was == nil || was[name] != nil {
		return source
	}
	source = object.Copy(source)
	delete(object.Map(source, "csi"), name)
	return source
}

// finalLabels are the labels of nodes that have got another name, by the old
// one.
var finalLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
}

// sameAffinity compares affinities, of which the new one may name labels by
// their final names.
func sameAffinity(is, was any) bool {
	if validation.Equal(is, was) {
		return true
	}
	now, _ := is.(map[string]any)
	renamed := object.Copy(was)
	old, _ := renamed.(map[string]any)
	terms := object.List(now, "required", "nodeSelectorTerms")
	for i, v := range object.List(old, "required", "nodeSelectorTerms") {
		if i >= len(terms) {
			return false
		}
		term, _ := v.(map[string]any)
		other, _ := terms[i].(map[string]any)
		requirements := object.List(other, "matchExpressions")
		for j, v := range object.List(term, "matchExpressions") {
			e, _ := v.(map[string]any)
			if j >= len(requirements) {
				return false
			}
			r, _ := requirements[j].(map[string]any)
			// A key without a final form may become none.
			if final := finalLabels[object.String(e, "key")]; final == object.String(r, "key") {
				e["key"] = final
			}
		}
	}
	return validation.Equal(is, renamed)
}

// deadPlugins are the sources that work no more.
var deadPlugins = []struct{ name, told, why string }{
	{"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
	{"photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
	{"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
	{"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
	{"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
	{"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
}

const classAnnotation = "volume.beta.kubernetes.io/storage-class"

func warnPersistentVolume(obj, _ map[string]any) []string {
	var warnings []string
	warn := func(at *validation.Path, text string) { warnings = append(warnings, fmt.Sprintf("%s: %s", at, text)) }
	whole := part{obj: obj}
	annotations, spec := whole.within("metadata").within("annotations"), whole.within("spec")
	if annotations.has(classAnnotation) {
		warn(annotations.path.Key(classAnnotation), `deprecated since v1.8; use "storageClassName" attribute instead`)
	}
	if annotations.has(mountAnnotation) {
		warn(annotations.path.Key(mountAnnotation), `deprecated since v1.31; use "mountOptions" attribute instead`)
	}
	if spec.text("persistentVolumeReclaimPolicy") == "Recycle" {
		warn(spec.at("persistentVolumeReclaimPolicy"), "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	for _, term := range spec.within("nodeAffinity").within("required").each("nodeSelectorTerms") {
		for _, e := range term.each("matchExpressions") {
			if key := e.text("key"); deprecatedNodeLabels[key] != "" {
				warn(e.at("key"), key+" is "+deprecatedNodeLabels[key])
			}
		}
	}
	for _, p := range deadPlugins {
		if spec.has(p.name) {
			warn(spec.at(p.told), p.why)
		}
	}
	return warnings
}
