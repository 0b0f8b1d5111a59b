package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultStorage(t *testing.T) {
	kindtest.TestDefaults(t, "storageclasses.storage.k8s.io", []kindtest.Row{{"reclaims", `{}`, "reclaimPolicy", `"Delete"`}, {"binds", `{}`, "volumeBindingMode", `"Immediate"`}})
	kindtest.TestDefaults(t, "csidrivers.storage.k8s.io", []kindtest.Row{
		{"everything", `{"spec":{"attachRequired":false}}`, "spec", `{"attachRequired":false,"fsGroupPolicy":"ReadWriteOnceWithFSType","podInfoOnMount":false,"preventPodSchedulingIfMissing":false,"requiresRepublish":false,"seLinuxMount":false,"storageCapacity":false,"volumeLifecycleModes":["Persistent"]}`},
	})
	kindtest.TestDefaults(t, "volumeattachments.storage.k8s.io", []kindtest.Row{
		{"inline", `{"spec":{"source":{"inlineVolumeSpec":{"hostPath":{"path":"/"}}}}}`, "spec.source.inlineVolumeSpec.hostPath.type", `""`},
	})
}
