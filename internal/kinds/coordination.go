package kinds

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// prepareLease drops what a disabled feature gate holds back.
func prepareLease(obj, old map[string]any) {
	spec, oldSpec := child(obj, "spec"), object.Map(old, "spec")
	without(spec, oldSpec, "strategy")
	without(spec, oldSpec, "preferredHolder")
}

func validateLease(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, func(lease part) {
		spec := lease.within("spec")
		if spec.has("leaseDurationSeconds") && spec.integer("leaseDurationSeconds") <= 0 {
			spec.invalid("leaseDurationSeconds", "must be greater than 0")
		}
		spec.notNegative("leaseTransitions")
		if spec.has("strategy") {
			leaseStrategy(spec)
		}
		if spec.text("preferredHolder") != "" && spec.text("strategy") == "" {
			spec.forbid("preferredHolder", "may only be specified if `strategy` is defined")
		}
	})
}

const oldestEmulationVersion = "OldestEmulationVersion"

// leaseStrategy checks how a leader is chosen: by a way that Kubernetes names,
// or by another with a qualified name. Mistakes are noted a level too deep.
func leaseStrategy(spec part) {
	strategy, path := spec.text("strategy"), spec.at("strategy").Child("strategy")
	switch {
	case strings.Contains(strategy, "/"):
		spec.add(validation.Each(path, validation.NamedString(strategy), validation.QualifiedName(strategy)))
	case strategy != oldestEmulationVersion:
		spec.note(validation.NotSupported(path, validation.NamedString(strategy), []string{oldestEmulationVersion}))
	}
}

func validateLeaseCandidate(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, func(candidate part) {
		spec := candidate.within("spec")
		leaseCandidate(spec)
		if old != nil {
			spec.unchanged(object.Map(old, "spec"), "leaseName")
		}
	})
}

func leaseCandidate(spec part) {
	spec.needs("leaseName")
	emulation := spec.semver("emulationVersion")
	spec.needs("binaryVersion")
	binary := spec.semver("binaryVersion")
	if spec.text("binaryVersion") != "" && spec.text("emulationVersion") != "" && binary.compare(emulation) < 0 {
		spec.invalid("binaryVersion", "must be greater than or equal to `emulationVersion`")
	}
	if !spec.needs("strategy") {
		return
	}
	if spec.text("strategy") == oldestEmulationVersion && emulation.compare(semver{}) == 0 {
		spec.missing("emulationVersion", "must be specified when `strategy` is 'OldestEmulationVersion'")
	}
	leaseStrategy(spec)
}

// semver is the semantic version at a member, zero if there is none.
func (p part) semver(name string) semver {
	text := p.text(name)
	if text == "" {
		return semver{}
	}
	v, err := parseSemver(text)
	if err != nil {
		p.invalid(name, "must be a valid semantic version")
	}
	return v
}
