package volumes

import (
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// accessModes are the ways in which nodes may share a volume, sorted.
var accessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}

// CheckClaimTemplate checks what the claim of an ephemeral volume is made from.
func CheckClaimTemplate(p validation.View) {
	kind.CheckTemplateMeta(p.Field("metadata"))
	CheckClaimSpec(p.Field("spec"))
}

// CheckClaimSpec checks what a new persistent volume claim asks for.
func CheckClaimSpec(p validation.View) { claimRules{}.spec(p) }

// claimRules are relaxed for a claim that exists and has a source of an API
// group: it may be any.
type claimRules struct{ anyGroup bool }

func claimRulesAfter(old map[string]any) claimRules {
	spec := object.Map(old, "spec")
	return claimRules{object.Value(spec, "dataSource", "apiGroup") != nil || object.Value(spec, "dataSourceRef", "apiGroup") != nil}
}

// spec checks what a persistent volume claim asks for.
func (r claimRules) spec(p validation.View) {
	if p.Len("accessModes") == 0 {
		p.Required("accessModes", "at least 1 access mode is required")
	}
	p.LabelSelector("selector", validation.LabelSelectorOptions{})
	checkClaimAccess(p)
	storage := p.At("resources").Key("storage")
	switch request, ok := object.Value(p.Obj, "resources", "requests", "storage").(string); {
	case !ok:
		p.Add(validation.Required(storage, ""))
	default:
		p.AddList(resources.ValidatePositiveQuantity(request, storage))
	}
	p.FormatIfSet("storageClassName", validation.Subdomain)
	p.OneOfIfSet("volumeMode", "Block", "Filesystem")
	p.IfPresent("dataSource", r.dataSource)
	p.IfPresent("dataSourceRef", func(ref validation.View) {
		r.dataSource(ref)
		ref.FormatIfSet("namespace", validation.DNS1123Label)
	})
	checkDataSourcesAgree(p)
	p.FormatIfSet("volumeAttributesClassName", validation.Subdomain)
}

func checkClaimAccess(p validation.View) {
	alone, shared := false, false
	for _, mode := range p.Strings("accessModes") {
		known := slices.Contains(accessModes, mode)
		if !known {
			p.Add(validation.NotSupported(p.At("accessModes"), validation.NamedString(mode), accessModes))
		}
		alone = alone || mode == "ReadWriteOncePod"
		shared = shared || known && mode != "ReadWriteOncePod"
	}
	if alone && shared {
		p.Forbidden("accessModes", "may not use ReadWriteOncePod with other access modes")
	}
}

// dataSource checks what a volume is to be filled from.
func (r claimRules) dataSource(p validation.View) {
	p.RequireEach("name", "kind")
	group, kind := p.String("apiGroup"), p.String("kind")
	if group == "" && kind != "PersistentVolumeClaim" {
		p.Add(validation.Invalid(p.Path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	if !r.anyGroup {
		p.FormatIfSet("apiGroup", validation.DNS1123Subdomain)
	}
}

// checkDataSourcesAgree checks that the older field says what the newer one does.
func checkDataSourcesAgree(p validation.View) {
	source, ref := object.Map(p.Obj, "dataSource"), object.Map(p.Obj, "dataSourceRef")
	if source == nil || ref == nil {
		return
	}
	// kube-apiserver quotes a path, which prints as an empty object.
	quoted := map[string]any{}
	switch {
	case object.String(ref, "namespace") != "":
		p.Add(validation.Invalid(p.Path, quoted, "may not be specified when dataSourceRef.namespace is specified"))
	case source["apiGroup"] != ref["apiGroup"], source["kind"] != ref["kind"], source["name"] != ref["name"]:
		p.Add(validation.Invalid(p.Path, quoted, "must match dataSourceRef"))
	}
}
