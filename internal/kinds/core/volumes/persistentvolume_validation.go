package volumes

import (
	"path"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

func validatePersistentVolume(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(obj, nil, persistentVolumeRule(object.View{}), checkMountOptions)
	}
	return validation.Collect(obj, nil, persistentVolumeRule(old), checkMountOptions, persistentVolumeRule(old), persistentVolumeUpdateRule(old))
}

// persistentVolumeRule returns the rule for a PersistentVolume. If old has node
// affinity values that are not label values, the new ones may be invalid too.
func persistentVolumeRule(old object.View) func(validation.View) {
	var allowInvalidValues bool
	for term := range old.At("spec", "nodeAffinity", "required", "nodeSelectorTerms").Objects() {
		for e := range term.At("matchExpressions").Objects() {
			for _, value := range e.Strings("values") {
				allowInvalidValues = allowInvalidValues || len(validation.LabelValue(value)) > 0
			}
		}
	}
	return func(p validation.View) {
		spec := p.Field("spec")
		checkVolumeAccess(spec)
		checkVolumeCapacity(spec)
		if spec.String("persistentVolumeReclaimPolicy") != "" {
			spec.OneOf("persistentVolumeReclaimPolicy", "Delete", "Recycle", "Retain")
		}
		spec.IfPresent("nodeAffinity", func(affinity validation.View) { checkVolumeAffinity(affinity, allowInvalidValues) })
		checkPersistentVolumeSource(spec, p.Field("metadata").String("name"))
		spec.FormatIfSet("storageClassName", validation.Subdomain)
		spec.OneOfIfSet("volumeMode", "Block", "Filesystem")
		checkVolumeAttributesClass(spec)
	}
}

// CheckInlineVolume validates the inline volume of a VolumeAttachment.
func CheckInlineVolume(p validation.View) {
	const inline = "may not be specified in the context of inline volumes"
	if p.Has("claimRef") {
		p.Forbidden("claimRef", inline)
	}
	if p.Len("capacity") > 0 {
		p.Forbidden("capacity", inline)
	}
	if !p.Has("csi") {
		p.Required("csi", "has to be specified in the context of inline volumes")
	}
	checkVolumeAccess(p)
	if policy := p.String("persistentVolumeReclaimPolicy"); policy != "" && policy != "Retain" {
		p.Forbidden("persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes")
	}
	if p.Has("nodeAffinity") {
		p.Forbidden("nodeAffinity", inline)
	}
	checkPersistentVolumeSource(p, "")
	if p.String("storageClassName") != "" {
		p.Forbidden("storageClassName", inline)
	}
	if p.Has("volumeMode") && p.String("volumeMode") != "Filesystem" {
		p.Forbidden("volumeMode", "may not specify volumeMode other than Filesystem in the context of inline volumes")
	}
}

func checkVolumeAccess(p validation.View) {
	p.Require("accessModes")
	checkClaimAccess(p)
}

func checkVolumeCapacity(p validation.View) {
	p.Require("capacity")
	capacity := object.Map(p.Obj, "capacity")
	if !object.Has(capacity, "storage") || len(capacity) > 1 {
		p.Add(validation.NotSupported(p.At("capacity"), validation.AsGoType("{}q", p.Obj["capacity"]), []string{"storage"}))
	}
	for resource, quantity := range p.Quantities("capacity") {
		at := p.At("capacity").Key(resource)
		checkBasicResource(p, quantity, at)
		p.AddList(resources.ValidatePositiveQuantity(quantity, at))
	}
}

// checkBasicResource checks that the quantity is not negative. The error quotes the
// quantity as a number.
func checkBasicResource(p validation.View, amount string, at *validation.Path) {
	if units := quantity.Count(amount, 1e9); units.Sign() < 0 {
		p.Add(validation.Invalid(at, units.Int64(), "must be a valid resource quantity"))
	}
}

func checkVolumeAffinity(p validation.View, allowInvalidValues bool) {
	required, ok := p.Lookup("required")
	if !ok {
		p.Required("required", "must specify required node constraints")
		return
	}
	if required.Len("nodeSelectorTerms") == 0 || !allowInvalidValues {
		nodes.CheckNodeSelector(required)
		return
	}
	for _, term := range required.Each("nodeSelectorTerms") {
		nodes.CheckNodeSelectorTerm(term, true)
	}
}

// persistentVolumeSources are the volume sources of PersistentVolumes with their
// rules, in the order of validation.
var persistentVolumeSources = []struct {
	name string
	rule func(validation.View)
}{
	{"hostPath", CheckHostPath},
	{"gcePersistentDisk", CheckGcePersistentDisk},
	{"awsElasticBlockStore", CheckAwsElasticBlockStore},
	{"glusterfs", checkPersistentGlusterfs},
	{"flocker", CheckFlocker},
	{"nfs", CheckNfsVolume},
	{"rbd", CheckRbdVolume},
	{"quobyte", CheckQuobyte},
	{"cephfs", CheckCephfsVolume},
	{"iscsi", checkPersistentISCSI},
	{"cinder", requireSecretNamespace(CheckCinderVolume)},
	{"fc", CheckFibreChannel},
	{"flexVolume", CheckFlexVolume},
	{"azureFile", checkPersistentAzureFile},
	{"vsphereVolume", func(p validation.View) { p.Require("volumePath") }},
	{"photonPersistentDisk", func(p validation.View) { p.Require("pdID") }},
	{"portworxVolume", func(p validation.View) { p.Require("volumeID") }},
	{"azureDisk", CheckAzureDisk},
	{"scaleIO", CheckScaleIO},
	{"local", checkLocalVolume},
	{"storageos", requireSecretNamespace(CheckStorageOS)},
	{"csi", checkPersistentCSI},
}

// checkPersistentVolumeSource checks that the spec has exactly one volume source,
// and validates it.
func checkPersistentVolumeSource(p validation.View, name string) {
	sources := 0
	for i := range persistentVolumeSources {
		s := &persistentVolumeSources[i]
		source, ok := p.Lookup(s.name)
		if !ok {
			continue
		}
		sources++
		if sources > 1 && s.name != "flexVolume" {
			ForbidVolumeSource(p, s.name)
			continue
		}
		switch s.name {
		case "gcePersistentDisk":
			source.Path = p.At("persistentDisk") // the name in kube-apiserver's errors
		case "iscsi":
			checkTargetPortal(source, name)
		}
		s.rule(source)
		if s.name == "local" && !p.Has("nodeAffinity") {
			p.Required("nodeAffinity", "Local volume requires node affinity")
		}
	}
	if sources == 0 {
		p.Add(validation.Required(p.Path, "must specify a volume type"))
	}
	if host, ok := p.Lookup("hostPath"); ok && path.Clean(host.String("path")) == "/" && p.String("persistentVolumeReclaimPolicy") == "Recycle" {
		p.Forbidden("persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
	}
}

func checkPersistentGlusterfs(p validation.View) {
	CheckGlusterfs(p)
	if !p.Has("endpointsNamespace") {
		return
	}
	if p.String("endpointsNamespace") == "" {
		p.InvalidString("endpointsNamespace", "if the endpointnamespace is set, it must be a valid namespace name")
		return
	}
	p.Format("endpointsNamespace", validation.DNS1123Label)
}

// checkTargetPortal checks that targetPortal is set. With an initiatorName, the
// volume's name and the portal together must not be too long.
func checkTargetPortal(p validation.View, volume string) {
	p.Require("targetPortal")
	if p.Has("initiatorName") && len(volume+":"+p.String("targetPortal")) > MaxPortal {
		p.Add(validation.Invalid(p.At("targetportal"), p.String("targetPortal"), PortalTooLong))
	}
}

func checkPersistentISCSI(p validation.View) {
	checkIscsiTarget(p, "must be valid format")
	p.IfPresent("secretRef", func(ref validation.View) { ref.Require("name") })
	if p.Has("initiatorName") {
		if known, valid := iscsiName(p.String("initiatorName")); !known || !valid {
			p.Add(validation.Invalid(p.At("initiatorname"), p.String("initiatorName"), "must be valid format"))
		}
	}
}

// requireSecretNamespace returns rule with the additional check that secretRef has a
// namespace.
func requireSecretNamespace(rule func(validation.View)) func(validation.View) {
	return func(p validation.View) {
		rule(p)
		p.IfPresent("secretRef", func(ref validation.View) { ref.Require("namespace") })
	}
}

func checkPersistentAzureFile(p validation.View) {
	CheckAzureFile(p)
	if p.Has("secretNamespace") {
		p.Require("secretNamespace")
	}
}

func checkLocalVolume(p validation.View) {
	if p.Require("path") {
		CheckNoBacksteps(p, "path")
	}
}

func checkPersistentCSI(p validation.View) {
	CheckCSIDriverName(p, "driver")
	p.Require("volumeHandle")
	for _, name := range []string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		p.IfPresent(name, func(ref validation.View) {
			ref.RequireFormat("name", validation.DNS1123Subdomain)
			ref.RequireFormat("namespace", validation.DNS1123Label)
		})
	}
}

func checkVolumeAttributesClass(p validation.View) {
	const name = "volumeAttributesClassName"
	if !p.Has(name) {
		return
	}
	if p.String(name) == "" {
		p.Required(name, "an empty string is disallowed")
	} else {
		p.Format(name, validation.Subdomain)
	}
	if !p.Has("csi") {
		p.Required("csi", "has to be specified when using volumeAttributesClassName")
	}
}

// mountOptionSources are the volume sources that support mount options.
var mountOptionSources = []string{
	"gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs",
	"azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
}

const mountAnnotation = "volume.beta.kubernetes.io/mount-options"

func checkMountOptions(p validation.View) {
	annotations := p.Field("metadata").Field("annotations")
	supported := slices.ContainsFunc(mountOptionSources, p.Field("spec").Has)
	if annotations.Has(mountAnnotation) && !supported {
		annotations.Forbidden(mountAnnotation, "may not specify mount options for this volume type")
	}
}

// persistentVolumeUpdateRule returns the rule for an update of a PersistentVolume.
func persistentVolumeUpdateRule(old object.View) func(validation.View) {
	return func(p validation.View) {
		is, was := object.Map(p.Obj, "spec"), old.At("spec")
		if before, after := sourceFields(was), sourceFields(object.ViewOf(is)); !validation.Equal(before, withoutNewExpandSecret(after, before)) {
			after = withoutNewExpandSecret(after, before)
			p.Add(validation.Forbidden(validation.NewPath("spec", "persistentvolumesource"),
				"spec.persistentvolumesource is immutable after creation\n").WithDiff("core.PersistentVolumeSource", before, after))
		}
		validation.View{Obj: is, Path: nil, Errs: p.Errs}.ImmutableAs("volumeMode", "*s", was)
		if affinity := was.At("nodeAffinity"); !affinity.IsNil() && !sameAffinity(is["nodeAffinity"], affinity) {
			p.Add(validation.Invalid(p.At("nodeAffinity"), validation.AsGoType("*core.VolumeNodeAffinity", is["nodeAffinity"]), "field is immutable, except for updating from beta label to GA"))
		}
		if !was.IsNil("volumeAttributesClassName") && is["volumeAttributesClassName"] == nil {
			p.Field("spec").Forbidden("volumeAttributesClassName", "update from non-nil value to nil is forbidden")
		}
	}
}

// sourceFields returns the fields of spec that are volume sources.
func sourceFields(spec object.View) map[string]any {
	out := map[string]any{}
	for i := range persistentVolumeSources {
		if name := persistentVolumeSources[i].name; !spec.IsNil(name) {
			out[name] = spec.At(name).Shared()
		}
	}
	return out
}

// withoutNewExpandSecret returns source without csi.controllerExpandSecretRef if old
// is a CSI volume without one: an update may add it.
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

// gaNodeLabels maps deprecated beta node labels to the labels that replace them.
var gaNodeLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
}

// sameAffinity compares node affinities. The new one may replace beta labels with
// the GA ones.
func sameAffinity(is any, was object.View) bool {
	if validation.Equal(is, was) {
		return true
	}
	now, _ := is.(map[string]any)
	renamed := was.Copy()
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
			// A key without a GA name may be replaced with an empty one.
			if label := gaNodeLabels[object.String(e, "key")]; label == object.String(r, "key") {
				e["key"] = label
			}
		}
	}
	return validation.Equal(is, renamed)
}
