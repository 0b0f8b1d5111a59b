package kind

import (
	"github.com/kubefake/kubefake/internal/validation"
)

// forbiddenTemplateMeta are the metadata fields that a claim template cannot set,
// with the names that kube-apiserver's errors have for them.
var forbiddenTemplateMeta = []struct{ name, apiName string }{
	{"name", "name"}, {"generateName", "generateName"}, {"namespace", "namespace"}, {"selfLink", "selfLink"}, {"uid", "uID"},
	{"resourceVersion", "resourceVersion"}, {"generation", "generation"}, {"creationTimestamp", "creationTimestamp"},
	{"deletionTimestamp", "deletionTimestamp"}, {"deletionGracePeriodSeconds", "deletionGracePeriodSeconds"},
	{"ownerReferences", "ownerReferences"}, {"finalizers", "finalizers"}, {"managedFields", "managedFields"},
}

// CheckTemplateMeta validates the metadata of a claim template.
func CheckTemplateMeta(meta validation.View) {
	meta.Annotations("annotations")
	meta.Labels("labels")
	for _, field := range forbiddenTemplateMeta {
		if meta.Has(field.name) {
			meta.Forbidden(field.apiName, "cannot be set")
		}
	}
}
