// Package volumes has the strategies of PersistentVolumes and PersistentVolumeClaims, and the
// volume sources that they share with Pods.
package volumes

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"persistentvolumeclaims": persistentVolumeClaimStrategy,
		"persistentvolumes":      persistentVolumeStrategy,
	}
}
