package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

type fields = map[string]any

// role returns a ClusterRole of the server with rules, each for one resource with one verb.
func role(autoUpdate string, resources ...string) fields {
	var rules []any
	for _, r := range resources {
		rules = append(rules, fields{"verbs": []any{"get"}, "apiGroups": []any{""}, "resources": []any{r}})
	}
	return fields{"metadata": fields{"name": "r", "annotations": fields{autoUpdateRBAC: autoUpdate}, "labels": fields{"a": "b"}}, "rules": rules}
}

func flow(name, autoUpdate string, precedence int64) fields {
	return fields{"metadata": fields{"name": name, "annotations": fields{autoUpdateFlow: autoUpdate}}, "spec": fields{"matchingPrecedence": precedence}}
}

func binding(subjects ...string) fields {
	var list []any
	for _, s := range subjects {
		list = append(list, fields{"kind": "User", "name": s})
	}
	return fields{"metadata": fields{"annotations": fields{autoUpdateRBAC: "true"}}, "subjects": list}
}

func with(obj fields, name string, value any) fields {
	obj[name] = value
	return obj
}

func TestUpdateOwnObjects(t *testing.T) {
	selectors := func(labels ...string) fields {
		var list []any
		for _, l := range labels {
			list = append(list, fields{"matchLabels": fields{l: "true"}})
		}
		return fields{"clusterRoleSelectors": list}
	}
	for _, tt := range []struct {
		name                 string
		update               func(edit *object.Edit, expected map[string]any) bool
		have, expected, want fields
		changes              bool
	}{
		{"rules are covered", updateRole, role("true", "pods", "nodes"), role("true", "pods"), role("true", "pods", "nodes"), false},
		{"rules are missing", updateRole, role("true", "nodes"), role("true", "pods"), role("true", "nodes", "pods"), true},
		{"role of a user", updateRole, role("false"), role("true", "pods"), role("false"), false},
		{"aggregation begins", updateRole, role("true"), with(role("true"), "aggregationRule", selectors("x")), with(role("true"), "aggregationRule", selectors("x")), true},
		{"aggregation ends", updateRole, with(role("true"), "aggregationRule", selectors("x")), role("true"), role("true"), true},
		{
			"selectors are missing", updateRole, with(role("true"), "aggregationRule", selectors("x")), with(role("true"), "aggregationRule", selectors("y")),
			with(role("true"), "aggregationRule", selectors("x", "y")), true,
		},
		{"subjects are missing", updateBinding, binding("a"), binding("b"), binding("a", "b"), true},
		{"subjects are there", updateBinding, binding("a", "b"), binding("b"), binding("a", "b"), false},
		{"flow", updateFlow, flow("a", "true", 1), flow("a", "true", 2), flow("a", "true", 2), true},
		{"same flow", updateFlow, flow("a", "true", 1), flow("a", "true", 1), flow("a", "true", 1), false},
		{"flow of a user", updateFlow, flow("a", "false", 1), flow("a", "true", 2), flow("a", "false", 1), false},
		{"mandatory flow", updateFlow, flow("exempt", "false", 1), flow("exempt", "true", 2), flow("exempt", "false", 2), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edit := object.FromMap(tt.have).Edit()
			assert.Equal(t, tt.changes, tt.update(edit, tt.expected))
			assert.Equal(t, tt.want, edit.Map())
		})
	}
}
