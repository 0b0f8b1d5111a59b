package pods

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkVolumes validates the volumes, and sets r.volumes to those without errors.
func (r *podRules) checkVolumes() {
	if r.spec.Len("volumes") == 0 {
		return
	}
	r.volumes = make(map[string]validation.View, r.spec.Len("volumes"))
	for _, v := range r.spec.Each("volumes") {
		before := len(v.Errs.List)
		r.checkVolumeSource(v)
		v.RequireFormat("name", validation.DNS1123Label)
		name := v.String("name")
		if _, duplicate := r.volumes[name]; duplicate {
			v.Duplicate("name", name)
		}
		if v.NoErrorsSince(before) {
			r.volumes[name] = v
		}
		if claim, ok := v.Lookup("persistentVolumeClaim"); ok && r.createsClaim(claim.String("claimName")) {
			claim.Invalid("claimName", "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
}

// createsClaim reports whether name is the claim of one of the Pod's ephemeral
// volumes.
func (r *podRules) createsClaim(name string) bool {
	if r.name == "" {
		return false
	}
	for v := range object.Each(r.spec.Obj["volumes"]) {
		if v["ephemeral"] != nil && name == r.name+"-"+object.String(v, "name") {
			return true
		}
	}
	return false
}

// A volumeRule validates one type of volume source.
type volumeRule struct {
	name string
	rule func(r *podRules, source validation.View)
}

// volumeRules are the rules of all volume sources, in the order of validation.
var volumeRules = []volumeRule{
	{"emptyDir", withoutPod(checkEmptyDir)},
	{"hostPath", withoutPod(volumes.CheckHostPath)},
	{"gitRepo", withoutPod(checkGitRepo)},
	{"gcePersistentDisk", withoutPod(volumes.CheckGcePersistentDisk)},
	{"awsElasticBlockStore", withoutPod(volumes.CheckAwsElasticBlockStore)},
	{"secret", withoutPod(checkSecretVolume)},
	{"nfs", withoutPod(volumes.CheckNfsVolume)},
	{"iscsi", withoutPod(volumes.CheckIscsiVolume)},
	{"glusterfs", withoutPod(volumes.CheckGlusterfs)},
	{"flocker", withoutPod(volumes.CheckFlocker)},
	{"persistentVolumeClaim", withoutPod(func(p validation.View) { p.Require("claimName") })},
	{"rbd", withoutPod(volumes.CheckRbdVolume)},
	{"cinder", withoutPod(volumes.CheckCinderVolume)},
	{"cephfs", withoutPod(volumes.CheckCephfsVolume)},
	{"quobyte", withoutPod(volumes.CheckQuobyte)},
	{"downwardAPI", withoutPod(checkDownwardAPIVolume)},
	{"fc", withoutPod(volumes.CheckFibreChannel)},
	{"flexVolume", withoutPod(volumes.CheckFlexVolume)},
	{"configMap", withoutPod(checkConfigMapVolume)},
	{"azureFile", withoutPod(volumes.CheckAzureFile)},
	{"vsphereVolume", withoutPod(func(p validation.View) { p.Require("volumePath") })},
	{"photonPersistentDisk", withoutPod(func(p validation.View) { p.Require("pdID") })},
	{"portworxVolume", withoutPod(func(p validation.View) { p.Require("volumeID") })},
	{"azureDisk", withoutPod(volumes.CheckAzureDisk)},
	{"storageos", withoutPod(volumes.CheckStorageOS)},
	{"projected", withoutPod(checkProjectedVolume)},
	{"scaleIO", withoutPod(volumes.CheckScaleIO)},
	{"csi", withoutPod(checkCSIVolume)},
	{"ephemeral", withoutPod(checkEphemeralVolume)},
	{"image", (*podRules).checkImageVolume},
}

// withoutPod returns a volume rule that does not use the Pod.
func withoutPod(rule func(validation.View)) func(*podRules, validation.View) {
	return func(_ *podRules, source validation.View) { rule(source) }
}

// checkVolumeSource checks that a volume has exactly one source, and validates it.
func (r *podRules) checkVolumeSource(v validation.View) {
	sources := 0
	for i := range volumeRules {
		s := &volumeRules[i]
		source, ok := v.Lookup(s.name)
		if !ok {
			continue
		}
		if sources++; sources > 1 {
			volumes.ForbidVolumeSource(v, s.name)
		} else {
			if s.name == "gcePersistentDisk" {
				source.Path = v.At("persistentDisk") // the name in kube-apiserver's errors
			}
			s.rule(r, source)
		}
		switch s.name {
		case "iscsi":
			if source.Has("initiatorName") && len(v.String("name")+":"+source.String("targetPortal")) > volumes.MaxPortal {
				v.Add(validation.Invalid(v.At("name"), v.String("name"), volumes.PortalTooLong))
			}
		case "ephemeral":
			r.checkEphemeralName(v, sources)
		}
	}
	if sources == 0 {
		v.Add(validation.Required(v.Path, "must specify a volume type"))
	}
}

// checkEphemeralName validates the name of the claim of an ephemeral volume.
func (r *podRules) checkEphemeralName(v validation.View, sources int) {
	if sources > 1 || r.name == "" || v.String("name") == "" {
		return
	}
	claim := r.name + "-" + v.String("name")
	for _, message := range validation.Subdomain(claim) {
		v.Invalid("name", fmt.Sprintf("PVC name %q: %s", claim, message))
	}
}

func checkEmptyDir(p validation.View) {
	if limit, ok := p.Obj["sizeLimit"].(string); ok && quantity.Compare(limit, "0") < 0 {
		p.Forbidden("sizeLimit", "SizeLimit field must be a valid resource quantity")
	}
	if n := p.Int("mode"); n < 0 || n > 0o1777 {
		p.Invalid("mode", "must be a number between 0 and 01777 (octal), both inclusive")
	}
}

func checkGitRepo(p validation.View) {
	p.Require("repository")
	volumes.CheckDescendingPath(p, "directory")
}

func checkSecretVolume(p validation.View) {
	p.Require("secretName")
	checkFileDefaults(p)
	for _, item := range p.Each("items") {
		checkKeyToPath(item)
	}
}

func checkConfigMapVolume(p validation.View) {
	p.Require("name")
	checkFileDefaults(p)
	for _, item := range p.Each("items") {
		checkKeyToPath(item)
	}
}

// checkFileDefaults checks the mode and the user of files without their own.
func checkFileDefaults(p validation.View) {
	volumes.CheckFileMode(p, "defaultMode")
	volumes.CheckUser(p, "defaultUser")
}

func checkKeyToPath(p validation.View) {
	p.RequireEach("key", "path")
	checkFilePath(p, "path")
	volumes.CheckFileMode(p, "mode")
	volumes.CheckUser(p, "user")
}

// checkDownwardAPIVolume validates a downwardAPI volume. kube-apiserver reports
// errors in its items at the volume itself.
func checkDownwardAPIVolume(p validation.View) {
	checkFileDefaults(p)
	for _, file := range p.Each("items") {
		file.Path = p.Path
		checkDownwardAPIFile(file)
	}
}

func checkDownwardAPIFile(p validation.View) {
	p.Require("path")
	checkFilePath(p, "path")
	field, byField := p.Lookup("fieldRef")
	resource, byResource := p.Lookup("resourceFieldRef")
	switch {
	case byField:
		checkFieldRef(field, fileFields)
		if byResource {
			p.Add(validation.Invalid(p.Path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case byResource:
		checkResourceFieldRef(resource, true)
	default:
		p.Add(validation.Required(p.Path, "one of fieldRef and resourceFieldRef is required"))
	}
	volumes.CheckFileMode(p, "mode")
	volumes.CheckUser(p, "user")
}

func checkCSIVolume(p validation.View) {
	volumes.CheckCSIDriverName(p, "driver")
	p.IfPresent("nodePublishSecretRef", func(ref validation.View) {
		if ref.Require("name") {
			p.AddList(validation.Each(p.At("name"), ref.String("name"), validation.Subdomain(ref.String("name"))))
		}
	})
}

func checkEphemeralVolume(p validation.View) {
	template, ok := p.Lookup("volumeClaimTemplate")
	if !ok {
		p.Required("volumeClaimTemplate", "")
		return
	}
	volumes.CheckClaimTemplate(template)
}

// checkImageVolume validates an image volume. Only a Pod must set the reference.
func (r *podRules) checkImageVolume(p validation.View) {
	if r.isPod {
		p.Require("reference")
	}
	p.RequireOneOf("pullPolicy", pullPolicies...)
}
