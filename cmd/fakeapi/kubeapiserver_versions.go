package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A minorVersion is the major and the minor part of a version.
type minorVersion struct{ major, minor int }

func (v minorVersion) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

func (v minorVersion) compare(o minorVersion) int {
	return cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor))
}

// oldestVersion is the oldest version that a kube-apiserver can emulate.
var oldestVersion = minorVersion{1, 31}

// effectiveVersions are those of the flags --emulated-version and --min-compatibility-version,
// which are checked and have no other effect.
type effectiveVersions struct{ binary, emulated, compatible minorVersion }

// floor returns the oldest version that a flag may have.
func (e effectiveVersions) floor() minorVersion {
	floor := minorVersion{e.binary.major, e.binary.minor - 3}
	if floor.compare(oldestVersion) < 0 {
		return oldestVersion
	}
	return floor
}

// setVersions sets the versions of the flags.
func (c *kubeAPIServer) setVersions() error {
	v := &c.versions
	v.binary = minorVersion{1, c.served.Minor()}
	v.emulated = v.binary
	emulated, err := kubeVersion(c.values("emulated-version"))
	if err != nil {
		return err
	}
	if emulated != nil {
		v.emulated = *emulated
	}
	v.compatible = minorVersion{v.emulated.major, v.emulated.minor - 1}
	if floor := v.floor(); v.compatible.compare(floor) < 0 {
		v.compatible = floor
	}
	compatible, err := kubeVersion(c.values("min-compatibility-version"))
	if compatible != nil {
		v.compatible = *compatible
	}
	return err
}

// versionText matches the text of a version.
var versionText = regexp.MustCompile(`^\s*v?([0-9]+(?:\.[0-9]+)*)`)

// kubeVersion returns the version of the component kube in the values of a flag, nil if there is none.
func kubeVersion(values []string) (*minorVersion, error) {
	found := map[string]string{}
	var out *minorVersion
	for _, value := range values {
		component, text, ok := strings.Cut(value, "=")
		if !ok {
			component, text = "kube", value
		}
		component, text = strings.TrimSpace(component), strings.TrimSpace(text)
		m := versionText.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("could not parse %q as version", text)
		}
		parts := strings.Split(m[1], ".")
		if len(parts) < 2 {
			return nil, fmt.Errorf("illegal version string %q", text)
		}
		var numbers [3]int
		for i := range numbers[:min(len(parts), 3)] {
			numbers[i], _ = strconv.Atoi(parts[i])
		}
		if numbers[2] != 0 {
			return nil, fmt.Errorf("patch version not allowed, got: %s=%s", component, m[1])
		}
		if other, ok := found[component]; ok {
			return nil, fmt.Errorf("duplicate version flag, %[1]s=%[2]s and %[1]s=%[3]s", component, other, m[1])
		}
		found[component] = m[1]
		out = &minorVersion{numbers[0], numbers[1]}
	}
	for component := range found {
		if component != "kube" {
			return nil, fmt.Errorf("component not registered: %s", component)
		}
	}
	return out, nil
}

// validate returns the errors of versions that are too old or too new.
func (e effectiveVersions) validate() (errs []error) {
	floor := e.floor()
	if e.emulated.compare(floor) < 0 || e.emulated.compare(e.binary) > 0 {
		errs = append(errs, fmt.Errorf("emulation version %s is not between [%s, %s.0]", e.emulated, floor, e.binary))
	}
	if e.compatible.compare(floor) < 0 || e.compatible.compare(e.emulated) > 0 {
		errs = append(errs, fmt.Errorf("minCompatibilityVersion version %s is not between [%s, %s]", e.compatible, floor, e.emulated))
	}
	return errs
}
