package podsecurity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Level is a level of the Pod Security Standards. Greater levels are
// stricter.
type Level int

const (
	Privileged Level = iota
	Baseline
	Restricted
)

var levelNames = []string{"privileged", "baseline", "restricted"}

func (l Level) String() string { return levelNames[l] }

// Latest is the newest version.
const Latest = Version(1 << 30)

// A Version is the minor number of a release of Kubernetes.
type Version int

func (v Version) String() string {
	if v == Latest {
		return "latest"
	}
	return "v1." + strconv.Itoa(int(v))
}

// A LevelVersion is a level as a version of Kubernetes defines it.
type LevelVersion struct {
	Level   Level
	Version Version
}

// String returns for example "baseline:v1.30".
func (l LevelVersion) String() string { return l.Level.String() + ":" + l.Version.String() }

// labelPrefix is the prefix of the labels of namespaces.
const labelPrefix = "pod-security.kubernetes.io/"

var labelsPath = validation.NewPath("metadata", "labels")

// A Policy is what the labels of a namespace configure. Pods that violate Enforce
// are refused; pods that violate Warn get a warning.
type Policy struct {
	Enforce, Warn LevelVersion
}

// ParsePolicy parses the labels of a namespace. An invalid level in the enforce
// label means Restricted, in other labels Privileged; an invalid version means
// Latest.
func ParsePolicy(namespace map[string]any) (p Policy, errs validation.List) {
	labels := object.Map(namespace, "metadata", "labels")
	audit := LevelVersion{Version: Latest}
	p = Policy{Enforce: LevelVersion{Version: Latest}, Warn: LevelVersion{Version: Latest}}
	if !hasPolicy(labels) {
		return p, nil
	}
	given := map[string]bool{}
	for _, mode := range []struct {
		name     string
		value    *LevelVersion
		fallback Level
	}{{"enforce", &p.Enforce, Restricted}, {"audit", &audit, Privileged}, {"warn", &p.Warn, Privileged}} {
		level, hasLevel := labels[labelPrefix+mode.name].(string)
		if hasLevel {
			var ok bool
			if mode.value.Level, ok = parseLevel(level); !ok {
				mode.value.Level = mode.fallback
				errs = append(errs, validation.Invalid(labelsPath.Key(labelPrefix+mode.name), level, "must be one of "+strings.Join(levelNames, ", ")))
			}
			given[mode.name] = ok || mode.name == "warn"
		}
		version, hasVersion := labels[labelPrefix+mode.name+"-version"].(string)
		if hasVersion {
			var ok bool
			if mode.value.Version, ok = parseVersion(version); !ok {
				errs = append(errs, validation.Invalid(labelsPath.Key(labelPrefix+mode.name+"-version"), version, `must be "latest" or "v1.x"`))
			}
			given[mode.name+"-version"] = true
		}
	}
	if given["enforce"] && !given["warn"] && p.Enforce.Level > p.Warn.Level {
		p.Warn.Level = p.Enforce.Level
		if !given["warn-version"] {
			p.Warn.Version = p.Enforce.Version
		}
	}
	return p, errs
}

// hasPolicy reports whether there is a label of a policy.
func hasPolicy(labels map[string]any) bool {
	for name := range labels {
		if strings.HasPrefix(name, labelPrefix) {
			return true
		}
	}
	return false
}

func parseLevel(name string) (Level, bool) {
	for level, n := range levelNames {
		if n == name {
			return Level(level), true
		}
	}
	return Privileged, false
}

func parseVersion(text string) (Version, bool) {
	if text == "latest" {
		return Latest, true
	}
	digits, ok := strings.CutPrefix(text, "v1.")
	if n, err := strconv.ParseUint(digits, 10, 30); ok && err == nil && strconv.FormatUint(n, 10) == digits {
		return Version(n), true
	}
	return Latest, false
}

// A Violation is a check that a pod does not pass.
type Violation struct{ Reason, Detail string }

// Violations returns the checks that a pod or a pod template does not pass.
func (l LevelVersion) Violations(pod map[string]any) (all []Violation) {
	if l.Level == Privileged {
		return nil
	}
	p := newPod(pod)
	for _, run := range l.checks() {
		if reason, detail := run(p); reason != "" {
			all = append(all, Violation{reason, detail})
		}
	}
	return all
}

// Reasons returns the reasons of violations, separated by commas.
func Reasons(violations []Violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.Reason
	}
	return strings.Join(texts, ", ")
}

// Details returns the reasons of violations with their details.
func Details(violations []Violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.Reason
		if v.Detail != "" {
			texts[i] = fmt.Sprintf("%s (%s)", v.Reason, v.Detail)
		}
	}
	return strings.Join(texts, ", ")
}
