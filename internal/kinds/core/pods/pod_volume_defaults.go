package pods

import (
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
)

// defaultVolume sets the defaults of a Pod's volume. A volume without a source
// becomes an emptyDir.
func defaultVolume(volume map[string]any) {
	if _, named := volume["name"]; len(volume) == 0 || len(volume) == 1 && named {
		volume["emptyDir"] = map[string]any{}
		return
	}
	volumes.DefaultSources(volume)
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
			object.SetDefault(token, "expirationSeconds", int64(3600))
		}
	}
	if template := object.Map(volume, "ephemeral", "volumeClaimTemplate"); template != nil {
		volumes.DefaultClaimSpec(object.EnsureMap(template, "spec"))
	}
}
