package podsecurity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A level is a level of the Pod Security Standards. Greater levels are
// stricter.
type level int

const (
	levelPrivileged level = iota
	levelBaseline
	levelRestricted
)

var levelNames = []string{"privileged", "baseline", "restricted"}

// What errors say of levels and versions that do not exist.
const (
	levelRule   = "must be one of privileged, baseline, restricted"
	versionRule = `must be "latest" or "v1.x"`
)

func (l level) String() string { return levelNames[l] }

// latest is the newest version.
const latest = version(1 << 30)

// A version is the minor number of a release of Kubernetes.
type version int

func (v version) String() string {
	if v == latest {
		return "latest"
	}
	return "v1." + strconv.Itoa(int(v))
}

// A levelVersion is a level as a version of Kubernetes defines it.
type levelVersion struct {
	level   level
	version version
}

// String returns for example "baseline:v1.30".
func (l levelVersion) String() string { return l.level.String() + ":" + l.version.String() }

// labelPrefix is the prefix of the labels of namespaces.
const labelPrefix = "pod-security.kubernetes.io/"

var labelsPath = validation.NewPath("metadata", "labels")

// A policy is what the labels of a namespace configure. Pods that violate enforce
// are refused; pods that violate warn get a warning, and those that violate audit an
// annotation in the audit log.
type policy struct {
	enforce, audit, warn levelVersion
}

// privileged reports whether nothing violates the policy.
func (p policy) privileged() bool {
	return p.enforce.level == levelPrivileged && p.audit.level == levelPrivileged && p.warn.level == levelPrivileged
}

// parsePolicy parses the labels of a namespace. The defaults have what no label says. An invalid
// level in the enforce label means levelRestricted, in other labels levelPrivileged; an invalid
// version means latest.
func (c *Configuration) parsePolicy(namespace object.View) (policy, validation.List) {
	labels := namespace.At("metadata", "labels")
	if !hasPolicy(labels) {
		return c.defaults(), nil
	}
	return c.defaults().labeled(labels)
}

// labeled returns the policy with what labels configure, and their errors.
func (p policy) labeled(labels object.View) (_ policy, errs validation.List) {
	given := map[string]bool{}
	for _, mode := range []struct {
		name     string
		value    *levelVersion
		fallback level
	}{{"enforce", &p.enforce, levelRestricted}, {"audit", &p.audit, levelPrivileged}, {"warn", &p.warn, levelPrivileged}} {
		if label := labels.At(labelPrefix + mode.name); !label.IsNil() {
			level := label.String()
			var ok bool
			if mode.value.level, ok = parseLevel(level); !ok {
				mode.value.level = mode.fallback
				errs = append(errs, validation.Invalid(labelsPath.Key(labelPrefix+mode.name), level, levelRule))
			}
			given[mode.name] = ok || mode.name == "warn"
		}
		if label := labels.At(labelPrefix + mode.name + "-version"); !label.IsNil() {
			version := label.String()
			var ok bool
			if mode.value.version, ok = parseVersion(version); !ok {
				errs = append(errs, validation.Invalid(labelsPath.Key(labelPrefix+mode.name+"-version"), version, versionRule))
			}
			given[mode.name+"-version"] = true
		}
	}
	if given["enforce"] && !given["warn"] && p.enforce.level > p.warn.level {
		p.warn.level = p.enforce.level
		if !given["warn-version"] {
			p.warn.version = p.enforce.version
		}
	}
	return p, errs
}

// hasPolicy reports whether there is a label of a policy.
func hasPolicy(labels object.View) bool {
	for name := range labels.Fields() {
		if strings.HasPrefix(name, labelPrefix) {
			return true
		}
	}
	return false
}

func parseLevel(name string) (level, bool) {
	for i, n := range levelNames {
		if n == name {
			return level(i), true
		}
	}
	return levelPrivileged, false
}

func parseVersion(text string) (version, bool) {
	if text == "latest" {
		return latest, true
	}
	digits, ok := strings.CutPrefix(text, "v1.")
	if n, err := strconv.ParseUint(digits, 10, 30); ok && err == nil && strconv.FormatUint(n, 10) == digits {
		return version(n), true
	}
	return latest, false
}

// A violation is a check that a pod does not pass.
type violation struct{ reason, detail string }

// newest returns the newest version that a server has the checks of: that of its release.
func newest(a *admission.Attributes) version { return version(a.Access.Release().Minor()) }

// violations returns the checks that a pod or a pod template does not pass. Versions that are newer than
// newest have its checks.
func (l levelVersion) violations(pod object.View, newest version) (all []violation) {
	if l.level == levelPrivileged {
		return nil
	}
	l.version = min(l.version, newest)
	p := newPod(pod)
	for _, run := range l.checks() {
		if reason, detail := run(p); reason != "" {
			all = append(all, violation{reason, detail})
		}
	}
	return all
}

// joinReasons returns the reasons of violations, separated by commas.
func joinReasons(violations []violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.reason
	}
	return strings.Join(texts, ", ")
}

// joinDetails returns the reasons of violations with their details.
func joinDetails(violations []violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.reason
		if v.detail != "" {
			texts[i] = fmt.Sprintf("%s (%s)", v.reason, v.detail)
		}
	}
	return strings.Join(texts, ", ")
}
