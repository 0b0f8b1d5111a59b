package storage

import (
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateCSIDriver(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkCSIDriver, func(p validation.View) {
		if old.IsNil() {
			return
		}
		was := old.At("spec")
		if !validation.Equal(p.Obj["attachRequired"], was.At("attachRequired")) {
			p.Add(validation.Invalid(p.At("attachedRequired"), p.Obj["attachRequired"], "field is immutable"))
		}
		p.ImmutableAs("volumeLifecycleModes", "[]s", was)
	})
}

func checkCSIDriver(p validation.View) {
	p.OneOfIfSet("fsGroupPolicy", "File", "None", "ReadWriteOnceWithFSType")
	audiences := validation.Seen{}
	for _, request := range p.Each("tokenRequests") {
		if !audiences.Unique(request, "audience") || !request.Has("expirationSeconds") {
			continue
		}
		switch seconds := request.Int("expirationSeconds"); {
		case seconds < volumes.MinTokenExpiration:
			request.Invalid("expirationSeconds", "may not specify a duration less than 10 minutes")
		case seconds > volumes.MaxTokenExpiration:
			request.Invalid("expirationSeconds", "may not specify a duration larger than 2^32 seconds")
		}
	}
	for _, mode := range p.Strings("volumeLifecycleModes") {
		if mode != "Persistent" && mode != "Ephemeral" {
			p.Add(validation.NotSupported(p.At("volumeLifecycleModes"), validation.NamedString(mode), []string{"Persistent", "Ephemeral"}))
		}
	}
	if period, ok := object.Int(p.Obj, "nodeAllocatableUpdatePeriodSeconds"); ok && period < 10 {
		p.Invalid("nodeAllocatableUpdatePeriodSeconds", "must be greater than or equal to 10 seconds")
	}
	if p.Has("serviceAccountTokenInSecrets") && p.Len("tokenRequests") == 0 {
		p.Invalid("serviceAccountTokenInSecrets", "serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	}
}

// warnCSIDriver returns a warning if the driver gets service account tokens in a field
// that may be logged.
func warnCSIDriver(obj map[string]any, old object.View) []string {
	spec := object.Map(obj, "spec")
	tokens := object.List(spec, "tokenRequests")
	if len(tokens) == 0 || spec["serviceAccountTokenInSecrets"] != nil {
		return nil
	}
	if !old.IsNil() && validation.Equal(tokens, old.At("spec", "tokenRequests")) {
		return nil
	}
	return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"}
}
