package volumes

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

// warnClaim warns about fractional byte quantities and the annotation for the
// storage class.
func warnClaim(obj map[string]any, _ object.View) []string {
	root := validation.View{Obj: obj}
	annotations := root.Field("metadata").Field("annotations")
	var warnings []string
	if annotations.Has(classAnnotation) {
		warnings = append(warnings, fmt.Sprintf(`%s: deprecated since v1.8; use "storageClassName" attribute instead`, annotations.Path.Key(classAnnotation)))
	}
	return append(warnings, WarnClaimSpec(root.Field("spec"))...)
}

// WarnClaimSpec warns about fractional byte quantities.
func WarnClaimSpec(p validation.View) []string {
	var warnings []string
	resources := p.Field("resources")
	for _, list := range []string{"requests", "limits"} {
		if amount := object.String(resources.Obj, list, "storage"); strings.HasSuffix(amount, "m") && !quantity.IsInteger(amount) {
			warnings = append(warnings, fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", resources.At(list).Key("storage"), amount))
		}
	}
	return warnings
}
