package kind

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// notInTemplate are the members of metadata that the template of a claim cannot
// have, as kube-apiserver calls them.
var notInTemplate = []struct{ name, told string }{
	{"name", "name"}, {"generateName", "generateName"}, {"namespace", "namespace"}, {"selfLink", "selfLink"}, {"uid", "uID"},
	{"resourceVersion", "resourceVersion"}, {"generation", "generation"}, {"creationTimestamp", "creationTimestamp"},
	{"deletionTimestamp", "deletionTimestamp"}, {"deletionGracePeriodSeconds", "deletionGracePeriodSeconds"},
	{"ownerReferences", "ownerReferences"}, {"finalizers", "finalizers"}, {"managedFields", "managedFields"},
}

// CheckTemplateMeta checks the metadata of a template of claims.
func CheckTemplateMeta(meta validation.View) {
	meta.AddList(validation.Annotations(object.Map(meta.Obj, "annotations"), meta.At("annotations")))
	meta.AddList(validation.Labels(object.Map(meta.Obj, "labels"), meta.At("labels")))
	for _, field := range notInTemplate {
		if meta.Has(field.name) {
			meta.Forbidden(field.told, "cannot be set")
		}
	}
}
