package usage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/inputfile"
)

// A manifest is a document of a file, as far as it is about roles.
type manifest struct {
	Kind     string
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Rules           []Rule
	AggregationRule *struct {
		ClusterRoleSelectors []struct{ MatchLabels map[string]string }
	}
	RoleRef  struct{ Kind, Name string }
	Subjects []struct{ Kind string }
	Items    []manifest

	file string
}

// ReadRoles reads the roles in YAML files. A path is a file, a folder or a pattern as of
// [filepath.Glob]. Of a folder the files .yaml and .yml are read, not those of its folders.
//
// If the files have bindings to service accounts, roles without one are left out: they are for
// people. A ClusterRole that a RoleBinding binds counts as a Role. Other kinds are ignored.
func ReadRoles(paths ...string) ([]Role, error) {
	var all []manifest
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := inputfile.Read(file)
			if err != nil {
				return nil, err
			}
			found, err := parseManifests(file, text)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return rolesIn(all), nil
}

// filesOf returns the files of a path, sorted.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return []string{path}, nil
	case err == nil:
		var out []string
		for _, pattern := range []string{"*.yaml", "*.yml"} {
			found, err := filepath.Glob(filepath.Join(path, pattern))
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		slices.Sort(out)
		return out, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	out, err := filepath.Glob(path)
	if err == nil && len(out) == 0 {
		err = inputfile.NoMatch(path)
	}
	return out, err
}

// ParseRoles returns the roles in the text of YAML documents, as ReadRoles does for files. name is
// that of the text, for errors and for [Role.File]; it may be "".
func ParseRoles(name string, text []byte) ([]Role, error) {
	all, err := parseManifests(name, text)
	return rolesIn(all), err
}

func parseManifests(name string, text []byte) (out []manifest, err error) {
	for _, document := range strings.Split("\n"+string(text), "\n---") {
		var m manifest
		if err := yaml.Unmarshal([]byte(document), &m); err != nil {
			if name != "" {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return nil, err
		}
		for _, m := range append(m.Items, m) {
			m.file = name
			out = append(out, m)
		}
	}
	return out, nil
}

// rolesIn returns the roles among manifests.
func rolesIn(all []manifest) (out []Role) {
	bound := slices.ContainsFunc(all, manifest.bindsAccount)
	for i := range all {
		m := &all[i]
		if m.Kind != "Role" && m.Kind != "ClusterRole" {
			continue
		}
		role := Role{Name: m.Metadata.Name, Rules: m.rules(all), File: m.file}
		if m.Kind == "Role" {
			role.Namespace = m.Metadata.Namespace
			if role.Namespace == "" {
				role.Namespace = "default"
			}
		}
		if !bound {
			out = append(out, role)
			continue
		}
		for _, b := range all {
			if !b.bindsAccount() || b.RoleRef.Kind != m.Kind || b.RoleRef.Name != m.Metadata.Name {
				continue
			}
			grant := role
			if b.Kind == "RoleBinding" && m.Kind == "ClusterRole" {
				grant.Namespace = b.Metadata.Namespace
				if grant.Namespace == "" {
					grant.Namespace = "default"
				}
			}
			if !slices.ContainsFunc(out, func(r Role) bool {
				return r.File == grant.File && r.Name == grant.Name && r.Namespace == grant.Namespace
			}) {
				out = append(out, grant)
			}
		}
	}
	return out
}

// bindsAccount reports whether the manifest is a binding to a service account.
func (m manifest) bindsAccount() bool {
	return (m.Kind == "RoleBinding" || m.Kind == "ClusterRoleBinding") &&
		slices.ContainsFunc(m.Subjects, func(s struct{ Kind string }) bool { return s.Kind == "ServiceAccount" })
}

// rules returns the rules of a role, and those that it aggregates.
func (m *manifest) rules(all []manifest) []Rule {
	out := m.Rules
	if m.AggregationRule == nil {
		return out
	}
	for _, s := range m.AggregationRule.ClusterRoleSelectors {
		for i := range all {
			if all[i].Kind == "ClusterRole" && &all[i] != m && hasLabels(all[i].Metadata.Labels, s.MatchLabels) {
				out = append(slices.Clip(out), all[i].Rules...)
			}
		}
	}
	return out
}

func hasLabels(labels, want map[string]string) bool {
	for name, value := range want {
		if labels[name] != value {
			return false
		}
	}
	return len(want) > 0
}
