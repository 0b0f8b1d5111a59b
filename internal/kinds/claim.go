package kinds

import (
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// accessModes are the ways in which nodes may share a volume, sorted.
var accessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}

// notInTemplate are the members of metadata that the template of a claim cannot
// have, as kube-apiserver calls them.
var notInTemplate = []struct{ name, told string }{
	{"name", "name"}, {"generateName", "generateName"}, {"namespace", "namespace"}, {"selfLink", "selfLink"}, {"uid", "uID"},
	{"resourceVersion", "resourceVersion"}, {"generation", "generation"}, {"creationTimestamp", "creationTimestamp"},
	{"deletionTimestamp", "deletionTimestamp"}, {"deletionGracePeriodSeconds", "deletionGracePeriodSeconds"},
	{"ownerReferences", "ownerReferences"}, {"finalizers", "finalizers"}, {"managedFields", "managedFields"},
}

// claimTemplate checks what the claim of an ephemeral volume is made from.
func claimTemplate(p part) {
	templateMeta(p.within("metadata"))
	claimSpec(p.within("spec"))
}

// templateMeta checks the metadata of a template of claims.
func templateMeta(meta part) {
	meta.add(validation.Annotations(object.Map(meta.obj, "annotations"), meta.at("annotations")))
	meta.add(validation.Labels(object.Map(meta.obj, "labels"), meta.at("labels")))
	for _, field := range notInTemplate {
		if meta.has(field.name) {
			meta.forbid(field.told, "cannot be set")
		}
	}
}

// claimSpec checks what a new persistent volume claim asks for.
func claimSpec(p part) { claimRules{}.spec(p) }

// claimRules are relaxed for a claim that exists and has a source of an API
// group: it may be any.
type claimRules struct{ anyGroup bool }

func claimRulesAfter(old map[string]any) claimRules {
	spec := object.Map(old, "spec")
	return claimRules{object.Value(spec, "dataSource", "apiGroup") != nil || object.Value(spec, "dataSourceRef", "apiGroup") != nil}
}

// spec checks what a persistent volume claim asks for.
func (r claimRules) spec(p part) {
	if p.size("accessModes") == 0 {
		p.missing("accessModes", "at least 1 access mode is required")
	}
	p.labelSelector("selector", validation.LabelSelectorOptions{})
	claimAccess(p)
	storage := p.at("resources").Key("storage")
	switch request, ok := object.Value(p.obj, "resources", "requests", "storage").(string); {
	case !ok:
		p.note(validation.Required(storage, ""))
	default:
		p.add(positiveQuantity(request, storage))
	}
	p.ifSet("storageClassName", subdomain)
	p.ifOneOf("volumeMode", "Block", "Filesystem")
	p.ifGiven("dataSource", r.dataSource)
	p.ifGiven("dataSourceRef", func(ref part) {
		r.dataSource(ref)
		ref.ifSet("namespace", validation.DNS1123Label)
	})
	dataSourcesAgree(p)
	p.ifSet("volumeAttributesClassName", subdomain)
}

func claimAccess(p part) {
	alone, shared := false, false
	for _, mode := range p.texts("accessModes") {
		known := slices.Contains(accessModes, mode)
		if !known {
			p.note(validation.NotSupported(p.at("accessModes"), validation.NamedString(mode), accessModes))
		}
		alone = alone || mode == "ReadWriteOncePod"
		shared = shared || known && mode != "ReadWriteOncePod"
	}
	if alone && shared {
		p.forbid("accessModes", "may not use ReadWriteOncePod with other access modes")
	}
}

// dataSource checks what a volume is to be filled from.
func (r claimRules) dataSource(p part) {
	p.needsEach("name", "kind")
	group, kind := p.text("apiGroup"), p.text("kind")
	if group == "" && kind != "PersistentVolumeClaim" {
		p.note(validation.Invalid(p.path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	if !r.anyGroup {
		p.ifSet("apiGroup", validation.DNS1123Subdomain)
	}
}

// dataSourcesAgree checks that the older field says what the newer one does.
func dataSourcesAgree(p part) {
	source, ref := object.Map(p.obj, "dataSource"), object.Map(p.obj, "dataSourceRef")
	if source == nil || ref == nil {
		return
	}
	// kube-apiserver quotes a path, which prints as an empty object.
	quoted := map[string]any{}
	switch {
	case object.String(ref, "namespace") != "":
		p.note(validation.Invalid(p.path, quoted, "may not be specified when dataSourceRef.namespace is specified"))
	case source["apiGroup"] != ref["apiGroup"], source["kind"] != ref["kind"], source["name"] != ref["name"]:
		p.note(validation.Invalid(p.path, quoted, "must match dataSourceRef"))
	}
}
