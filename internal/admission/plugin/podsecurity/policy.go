package podsecurity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Level is how much of the standards holds. Later ones hold more.
type Level int

const (
	Privileged Level = iota
	Baseline
	Restricted
)

var levelNames = []string{"privileged", "baseline", "restricted"}

func (l Level) String() string { return levelNames[l] }

// Latest is the version that follows the server's.
const Latest = Version(1 << 30)

// A Version is the minor number of a release of Kubernetes.
type Version int

func (v Version) String() string {
	if v == Latest {
		return "latest"
	}
	return "v1." + strconv.Itoa(int(v))
}

// A Standard is a level as a version defines it.
type Standard struct {
	Level   Level
	Version Version
}

func (s Standard) String() string { return s.Level.String() + ":" + s.Version.String() }

// Labels of namespaces begin with this.
const labelPrefix = "pod-security.kubernetes.io/"

var labelsPath = validation.NewPath("metadata", "labels")

// A Policy is what a namespace asks for: what pods are refused by, and what
// clients are warned by.
type Policy struct {
	Enforce, Warn Standard
}

// PolicyOf reads the labels of a namespace. A label that makes no sense is a
// mistake; a level to enforce is then the strictest one, one to warn by none.
func PolicyOf(namespace map[string]any) (p Policy, mistakes validation.List) {
	labels := object.Map(namespace, "metadata", "labels")
	audit := Standard{Version: Latest}
	p = Policy{Enforce: Standard{Version: Latest}, Warn: Standard{Version: Latest}}
	if !asksForAny(labels) {
		return p, nil
	}
	given := map[string]bool{}
	for _, mode := range []struct {
		name     string
		standard *Standard
		fallback Level
	}{{"enforce", &p.Enforce, Restricted}, {"audit", &audit, Privileged}, {"warn", &p.Warn, Privileged}} {
		level, hasLevel := labels[labelPrefix+mode.name].(string)
		if hasLevel {
			var ok bool
			if mode.standard.Level, ok = parseLevel(level); !ok {
				mode.standard.Level = mode.fallback
				mistakes = append(mistakes, validation.Invalid(labelsPath.Key(labelPrefix+mode.name), level, "must be one of "+strings.Join(levelNames, ", ")))
			}
			given[mode.name] = ok || mode.name == "warn"
		}
		version, hasVersion := labels[labelPrefix+mode.name+"-version"].(string)
		if hasVersion {
			var ok bool
			if mode.standard.Version, ok = parseVersion(version); !ok {
				mistakes = append(mistakes, validation.Invalid(labelsPath.Key(labelPrefix+mode.name+"-version"), version, `must be "latest" or "v1.x"`))
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
	return p, mistakes
}

// asksForAny reports whether labels say anything of a policy; most do not.
func asksForAny(labels map[string]any) bool {
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

// A Violation is a control that a pod breaks: which, and by what.
type Violation struct{ Reason, Detail string }

// Violations are what a pod, or a pod template, breaks of a standard, in the
// order of the controls' names.
func (s Standard) Violations(pod map[string]any) (broken []Violation) {
	if s.Level == Privileged {
		return nil
	}
	p := newPod(pod)
	for _, judge := range s.controls() {
		if reason, detail := judge(p); reason != "" {
			broken = append(broken, Violation{reason, detail})
		}
	}
	return broken
}

// Reasons are the violations in short.
func Reasons(broken []Violation) string {
	texts := make([]string, len(broken))
	for i, v := range broken {
		texts[i] = v.Reason
	}
	return strings.Join(texts, ", ")
}

// Details are the violations with what they consist of.
func Details(broken []Violation) string {
	texts := make([]string, len(broken))
	for i, v := range broken {
		texts[i] = v.Reason
		if v.Detail != "" {
			texts[i] = fmt.Sprintf("%s (%s)", v.Reason, v.Detail)
		}
	}
	return strings.Join(texts, ", ")
}
