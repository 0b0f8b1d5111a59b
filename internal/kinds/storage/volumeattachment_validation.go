package storage

import (
	"math"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateVolumeAttachment(obj map[string]any, old object.View) validation.List {
	changed := !old.IsNil() && !validation.Equal(obj["spec"], old.At("spec"))
	return validation.Collect(obj, nil, func(p validation.View) {
		p.CheckChanged(changed, checkVolumeAttachment)
	}, func(p validation.View) {
		if !old.IsNil() {
			p.ImmutableDeclared("spec", "storage.VolumeAttachmentSpec", old)
		}
	})
}

func checkVolumeAttachment(p validation.View) {
	spec := p.Field("spec")
	if spec.RequireDeclared("attacher") {
		volumes.CheckDeclaredDriverName(spec, "attacher")
	}
	source := spec.Field("source")
	switch inline, isInline := source.Lookup("inlineVolumeSpec"); {
	case !isInline && !source.Has("persistentVolumeName"):
		source.Add(validation.Required(source.Path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case isInline && source.Has("persistentVolumeName"):
		source.Add(validation.Forbidden(source.Path, "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case isInline:
		volumes.CheckInlineVolume(inline)
	case source.String("persistentVolumeName") == "":
		source.Required("persistentVolumeName", "must specify non empty persistentVolumeName")
	}
	spec.Format("nodeName", validation.Subdomain)
	status := p.Field("status")
	size := 0
	for key, v := range status.Entries("attachmentMetadata") {
		value, _ := v.(string)
		size += len(key) + len(value)
	}
	if size > maxParametersSize {
		status.Add(validation.TooLong(status.At("attachmentMetadata"), maxParametersSize))
	}
	status.IfPresent("attachError", checkVolumeError)
	status.IfPresent("detachError", checkVolumeError)
	if source.Has("persistentVolumeName") {
		source.Format("persistentVolumeName", validation.Subdomain)
	}
	if spec.String("attacher") == "" {
		spec.AddList(validation.Collect(spec.Obj, spec.Path, func(p validation.View) { volumes.CheckCSIDriverName(p, "attacher") }).Until(behavior.EmptyAttachers))
	}
}

// checkVolumeError checks an error of attaching or detaching.
func checkVolumeError(p validation.View) {
	if len(p.String("message")) > maxVolumeMessage {
		p.Add(validation.TooLong(p.At("message"), maxParametersSize)) // kube-apiserver reports this limit, not maxVolumeMessage
	}
	if code := p.Int("errorCode"); code < 0 {
		p.Invalid("errorCode", validation.RangeMessage(0, math.MaxInt32))
	}
}
