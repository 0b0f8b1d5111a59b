package kinds

import "github.com/kubefake/kubefake/internal/object"

// defaultMode is the mode of files made from objects: 0644.
const defaultMode = int64(0o644)

// volumeSources are what completes the sources of volumes, of pods and
// persistent ones.
var volumeSources = map[string][]member{
	"azureDisk": {
		{"cachingMode", "ReadWrite"}, {"fsType", "ext4"}, {"readOnly", false}, {"kind", "Shared"},
	},
	"configMap":   {{"defaultMode", defaultMode}},
	"downwardAPI": {{"defaultMode", defaultMode}},
	"hostPath":    {{"type", ""}},
	"iscsi":       {{"iscsiInterface", "default"}},
	"projected":   {{"defaultMode", defaultMode}},
	"rbd":         {{"pool", "rbd"}, {"user", "admin"}, {"keyring", "/etc/ceph/keyring"}},
	"scaleIO":     {{"storageMode", "ThinProvisioned"}, {"fsType", "xfs"}},
	"secret":      {{"defaultMode", defaultMode}},
}

// defaultSources completes the members of a volume that are its source.
func defaultSources(volume map[string]any) {
	for name, v := range volume {
		if source, ok := v.(map[string]any); ok {
			fillAll(source, volumeSources[name])
		}
	}
}

// defaultVolume completes a volume of a pod. One without a source is an empty
// directory.
func defaultVolume(volume map[string]any) {
	if _, named := volume["name"]; len(volume) == 0 || len(volume) == 1 && named {
		volume["emptyDir"] = map[string]any{}
		return
	}
	defaultSources(volume)
	if image := object.Map(volume, "image"); image != nil && image["pullPolicy"] == nil {
		image["pullPolicy"] = pullPolicy(object.String(image, "reference"))
	}
	for item := range object.Each(object.Value(volume, "downwardAPI", "items")) {
		defaultFieldRef(item)
	}
	for source := range object.Each(object.Value(volume, "projected", "sources")) {
		for item := range object.Each(object.Value(source, "downwardAPI", "items")) {
			defaultFieldRef(item)
		}
		if token := object.Map(source, "serviceAccountToken"); token != nil {
			fill(token, "expirationSeconds", int64(3600))
		}
	}
	if template := object.Map(volume, "ephemeral", "volumeClaimTemplate"); template != nil {
		defaultClaimSpec(child(template, "spec"))
	}
}
