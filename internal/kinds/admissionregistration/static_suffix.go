package admissionregistration

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// StaticSuffix ends the names of webhooks, policies and bindings in files of the server: the
// staticManifestsDir of an admission plugin.
const StaticSuffix = ".static.k8s.io"

// StaticGate is the feature gate of such files.
const StaticGate = "ManifestBasedAdmissionControlConfig"

var reservedSuffix = fmt.Sprintf("names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", StaticSuffix)

// hasReservedName reports whether the name of an object is one of objects in files.
func hasReservedName(obj map[string]any) bool {
	return strings.HasSuffix(object.String(obj, "metadata", "name"), StaticSuffix)
}

// reserveSuffix returns a strategy that refuses new objects with the names of objects in files,
// on servers that can have such files. The others warn of them.
func reserveSuffix(s kind.Strategy) kind.Strategy {
	warnings := s.Warnings
	s.Warnings = func(r validation.Release, obj map[string]any, old object.View) (out []string) {
		if r.Has(behavior.StaticManifests) && hasReservedName(obj) && (!old.IsNil() || !r.Enabled(StaticGate)) {
			out = append(out, "metadata.name: "+reservedSuffix)
		}
		if warnings != nil {
			out = append(out, warnings(r, obj, old)...)
		}
		return out
	}
	released := s.Released
	s.Released = func(r *release.Release, out *resource.Strategy) {
		if released != nil {
			released(r, out)
		}
		if !r.Has(behavior.StaticManifests) || !r.Enabled(StaticGate) {
			return
		}
		validate := out.Validate
		out.Validate = func(obj map[string]any, old object.View) validation.List {
			list := validate(obj, old)
			if old.IsNil() && hasReservedName(obj) {
				list = append(list, validation.Invalid(validation.NewPath("metadata", "name"), object.String(obj, "metadata", "name"), reservedSuffix))
			}
			return list
		}
	}
	return s
}
