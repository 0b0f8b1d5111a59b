package volumes

import (
	"cmp"

	"github.com/kubefake/kubefake/internal/object"
)

// A SecretReference names a Secret.
type SecretReference struct{ Namespace, Name string }

// KubeletSecrets returns the Secrets that a PersistentVolume refers to and kubelets read.
// References without a namespace, which some sources may have, are to that of the claim.
func KubeletSecrets(pv map[string]any) (all []SecretReference) {
	spec := object.Map(pv, "spec")
	claimed := object.String(spec, "claimRef", "namespace")
	add := func(namespace, name string) {
		if name != "" {
			all = append(all, SecretReference{namespace, name})
		}
	}
	file := object.Map(spec, "azureFile")
	add(cmp.Or(object.String(file, "secretNamespace"), claimed), object.String(file, "secretName"))
	for _, source := range []string{"cephfs", "flexVolume", "iscsi", "rbd", "scaleIO"} {
		ref := object.Map(spec, source, "secretRef")
		add(cmp.Or(object.String(ref, "namespace"), claimed), object.String(ref, "name"))
	}
	for _, path := range [][]string{
		{"cinder", "secretRef"}, {"storageos", "secretRef"},
		{"csi", "nodePublishSecretRef"}, {"csi", "nodeStageSecretRef"}, {"csi", "nodeExpandSecretRef"},
	} {
		ref := object.Map(spec, path...)
		add(object.String(ref, "namespace"), object.String(ref, "name"))
	}
	return all
}
