package pods

import (
	"github.com/kubefake/kubefake/internal/object"
)

// IsMirror reports whether a Pod shows one that a kubelet runs from a file.
func IsMirror(pod object.View) bool {
	return pod.At("metadata", "annotations").Has(MirrorAnnotation)
}

// SecretNames returns the names of the Secrets that a Pod refers to, with repetitions.
// Secrets of PersistentVolumes are not among them.
func SecretNames(pod map[string]any) []string {
	var all nameList
	spec := object.Map(pod, "spec")
	for ref := range object.Each(spec["imagePullSecrets"]) {
		all.add(ref, "name")
	}
	all.addEnv(spec, "secretRef", "secretKeyRef")
	for v := range object.Each(spec["volumes"]) {
		for source := range object.Each(object.Value(v, "projected", "sources")) {
			all.add(source, "secret", "name")
		}
		for _, path := range volumeSecrets {
			all.add(v, path...)
		}
	}
	return all
}

// volumeSecrets are the paths of the names of Secrets in a volume.
var volumeSecrets = [][]string{
	{"azureFile", "secretName"},
	{"cephfs", "secretRef", "name"},
	{"cinder", "secretRef", "name"},
	{"csi", "nodePublishSecretRef", "name"},
	{"flexVolume", "secretRef", "name"},
	{"iscsi", "secretRef", "name"},
	{"rbd", "secretRef", "name"},
	{"scaleIO", "secretRef", "name"},
	{"secret", "secretName"},
	{"storageos", "secretRef", "name"},
}

// ConfigMapNames returns the names of the ConfigMaps that a Pod refers to, with
// repetitions.
func ConfigMapNames(pod map[string]any) []string {
	var all nameList
	spec := object.Map(pod, "spec")
	all.addEnv(spec, "configMapRef", "configMapKeyRef")
	for v := range object.Each(spec["volumes"]) {
		for source := range object.Each(object.Value(v, "projected", "sources")) {
			all.add(source, "configMap", "name")
		}
		all.add(v, "configMap", "name")
	}
	return all
}

// A nameList is a list of names that are not "".
type nameList []string

// add adds the name at a path.
func (l *nameList) add(obj map[string]any, path ...string) {
	if name := object.String(obj, path...); name != "" {
		*l = append(*l, name)
	}
}

// addEnv adds the names in the environments of all containers: those of a source of
// envFrom, and those of the keys that variables have their values from.
func (l *nameList) addEnv(spec map[string]any, source, key string) {
	for c := range AllContainers(spec) {
		for from := range object.Each(c["envFrom"]) {
			l.add(from, source, "name")
		}
		for variable := range object.Each(c["env"]) {
			l.add(variable, "valueFrom", key, "name")
		}
	}
}

// VolumeClaimName returns the name of the PersistentVolumeClaim of a volume of a Pod, ""
// without one.
func VolumeClaimName(pod string, volume object.View) string {
	if !volume.IsNil("ephemeral") {
		return pod + "-" + volume.String("name")
	}
	return volume.String("persistentVolumeClaim", "claimName")
}

// ResourceClaimName returns the name of the ResourceClaim of an entry of
// spec.resourceClaims, "" if there is none. known is false if the claim of a template has
// not been created.
func ResourceClaimName(pod, entry object.View) (name string, known bool) {
	if name := entry.String("resourceClaimName"); name != "" {
		return name, true
	}
	for status := range pod.At("status", "resourceClaimStatuses").Objects() {
		if status.String("name") == entry.String("name") {
			return status.String("resourceClaimName"), true
		}
	}
	return "", false
}
