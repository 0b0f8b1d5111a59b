package coordination

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/semver"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateLeaseCandidate(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(candidate validation.View) {
		spec := candidate.Field("spec")
		checkLeaseCandidate(spec)
		if !old.IsNil() {
			spec.Immutable(old.At("spec"), "leaseName")
		}
	})
}

func checkLeaseCandidate(spec validation.View) {
	spec.Require("leaseName")
	emulation := parseVersion(spec, "emulationVersion")
	spec.Require("binaryVersion")
	binary := parseVersion(spec, "binaryVersion")
	if spec.String("binaryVersion") != "" && spec.String("emulationVersion") != "" && binary.Compare(emulation) < 0 {
		spec.Invalid("binaryVersion", "must be greater than or equal to `emulationVersion`")
	}
	if !spec.Require("strategy") {
		return
	}
	if spec.String("strategy") == oldestEmulationVersion && emulation.Compare(semver.Version{}) == 0 {
		spec.Required("emulationVersion", "must be specified when `strategy` is 'OldestEmulationVersion'")
	}
	checkLeaseStrategy(spec)
}

// parseVersion returns the semantic version in a field, or the zero Version.
func parseVersion(p validation.View, name string) semver.Version {
	text := p.String(name)
	if text == "" {
		return semver.Version{}
	}
	v, err := semver.Parse(text)
	if err != nil {
		p.Invalid(name, "must be a valid semantic version")
	}
	return v
}
