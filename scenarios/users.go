package scenarios

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// permitUsers lets the users that the steps name with as do everything, unless the scenario has
// bindings of roles of its own. text is the scenario in JSON.
func (p *play) permitUsers(text []byte) error {
	users := p.scenario.users()
	if len(users) == 0 || bytes.Contains(text, []byte("RoleBinding")) {
		return nil
	}
	for _, f := range p.fixtures {
		if strings.HasSuffix(object.String(f.object, "kind"), "RoleBinding") {
			return nil
		}
	}
	var subjects []any
	for _, user := range users {
		subjects = append(subjects, map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": p.vars.expand(user)})
	}
	_, err := p.changeAsUser(&Step{Apply: Objects{{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": p.vars["ns"]},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": subjects,
	}}})
	if err != nil {
		return fmt.Errorf("permissions of the users: %w", err)
	}
	return nil
}

// users returns the users that steps impersonate.
func (s *Scenario) users() []string {
	all := map[string]bool{}
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Watch == "" && st.As != "" {
			all[st.As] = true
		}
		for _, row := range st.Rows {
			if row.As != "" {
				all[row.As] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}
