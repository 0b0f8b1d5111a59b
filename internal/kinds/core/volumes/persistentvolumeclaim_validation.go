package volumes

import (
	"fmt"

	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// accessModes are the supported access modes, sorted.
var accessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}

// CheckClaimTemplate validates the claim template of an ephemeral volume.
func CheckClaimTemplate(p validation.View) {
	kind.CheckTemplateMeta(p.Field("metadata"))
	CheckClaimSpec(p.Field("spec"))
}

// CheckClaimSpec validates the spec of a new PersistentVolumeClaim.
func CheckClaimSpec(p validation.View) { claimRules{}.spec(p) }

// claimRules validates the spec of a claim. An update of a claim whose data source
// has an API group accepts an invalid group.
type claimRules struct{ allowInvalidGroup bool }

func claimRulesForUpdate(old object.View) claimRules {
	spec := old.At("spec")
	return claimRules{!spec.IsNil("dataSource", "apiGroup") || !spec.IsNil("dataSourceRef", "apiGroup")}
}

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
	checkDataSourcesMatch(p)
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

// dataSource validates dataSource or dataSourceRef.
func (r claimRules) dataSource(p validation.View) {
	p.RequireEach("name", "kind")
	group, kind := p.String("apiGroup"), p.String("kind")
	if group == "" && kind != "PersistentVolumeClaim" {
		p.Add(validation.Invalid(p.Path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	if !r.allowInvalidGroup {
		p.FormatIfSet("apiGroup", validation.DNS1123Subdomain)
	}
}

// A fieldPath is what kube-apiserver quotes in the errors of checkDataSourcesMatch.
type fieldPath struct {
	Name string `json:"-"`
}

// GoString returns the path as kube-apiserver prints it with %#v. The pointer is that of
// the path of the spec.
func (p fieldPath) GoString() string {
	return fmt.Sprintf(`field.Path{name:%q, index:"", parent:(*field.Path)(0xc000000000)}`, p.Name)
}

// checkDataSourcesMatch checks that dataSource and dataSourceRef are the same
// object.
func checkDataSourcesMatch(p validation.View) {
	source, ref := object.Map(p.Obj, "dataSource"), object.Map(p.Obj, "dataSourceRef")
	if source == nil || ref == nil {
		return
	}
	quoted := fieldPath{Name: "dataSource"}
	switch {
	case object.String(ref, "namespace") != "":
		p.Add(validation.Invalid(p.Path, quoted, "may not be specified when dataSourceRef.namespace is specified"))
	case source["apiGroup"] != ref["apiGroup"], source["kind"] != ref["kind"], source["name"] != ref["name"]:
		p.Add(validation.Invalid(p.Path, quoted, "must match dataSourceRef"))
	}
}
