package volumes

import (
	"github.com/kubefake/kubefake/internal/object"
)

// defaultMode is the default mode of files in a volume.
const defaultMode = int64(0o644)

// sourceDefaults are the default values of volume sources, by field name.
var sourceDefaults = map[string][]object.Default{
	"azureDisk": {
		{Name: "cachingMode", Value: "ReadWrite"}, {Name: "fsType", Value: "ext4"}, {Name: "readOnly", Value: false}, {Name: "kind", Value: "Shared"},
	},
	"configMap":   {{Name: "defaultMode", Value: defaultMode}},
	"downwardAPI": {{Name: "defaultMode", Value: defaultMode}},
	"hostPath":    {{Name: "type", Value: ""}},
	"iscsi":       {{Name: "iscsiInterface", Value: "default"}},
	"projected":   {{Name: "defaultMode", Value: defaultMode}},
	"rbd":         {{Name: "pool", Value: "rbd"}, {Name: "user", Value: "admin"}, {Name: "keyring", Value: "/etc/ceph/keyring"}},
	"scaleIO":     {{Name: "storageMode", Value: "ThinProvisioned"}, {Name: "fsType", Value: "xfs"}},
	"secret":      {{Name: "defaultMode", Value: defaultMode}},
}

// DefaultSources sets the defaults of the volume sources of a Pod's volume or a
// PersistentVolume's spec.
func DefaultSources(volume map[string]any) {
	for name, v := range volume {
		if source, ok := v.(map[string]any); ok {
			object.SetDefaults(source, sourceDefaults[name])
		}
	}
}
