package controllers

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSelected(t *testing.T) {
	var byDefault []string
	for i := range known {
		if !known[i].offByDefault {
			byDefault = append(byDefault, known[i].name)
		}
	}
	for _, row := range []struct {
		name      string
		selection []string
		on, off   []string // of the result
		fails     string
	}{
		{"nothing", nil, nil, Names(), ""},
		{"none", []string{"none"}, nil, Names(), ""},
		{"everything", []string{"*"}, byDefault, []string{"bootstrap-signer-controller"}, ""},
		{"off by default", []string{"*,token-cleaner-controller"}, []string{"token-cleaner-controller"}, []string{"bootstrap-signer-controller"}, ""},
		{"everything but one", []string{"*,-kubelet"}, []string{"scheduler"}, []string{"kubelet"}, ""},
		{"two strings", []string{"*", "-kubelet"}, []string{"scheduler"}, []string{"kubelet"}, ""},
		{"one", []string{"job-controller"}, []string{"job-controller"}, []string{"kubelet"}, ""},
		{"an alias", []string{"job"}, []string{"job-controller"}, []string{"kubelet"}, ""},
		{"the first mention decides", []string{"-job,job,*"}, []string{"kubelet"}, []string{"job-controller"}, ""},
		{"unknown", []string{"nosuch"}, nil, nil, `"nosuch" is not in the list of known controllers`},
		{"a bare minus", []string{"-"}, nil, nil, `"" is not in the list of known controllers`},
		{"missing", []string{"node-ipam-controller"}, nil, nil, "this server does not have the node-ipam-controller of kube-controller-manager"},
		{"missing and off", []string{"*,-node-ipam-controller"}, byDefault, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			starters, err := selected(row.selection)
			if row.fails != "" {
				require.ErrorIs(t, err, ErrUnknown)
				assert.ErrorContains(t, err, row.fails)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, s := range starters {
				got = append(got, s.Name)
			}
			for _, name := range row.on {
				assert.Contains(t, got, name)
			}
			for _, name := range row.off {
				assert.NotContains(t, got, name)
			}
		})
	}
}

func TestNames(t *testing.T) {
	assert.True(t, slices.IsSorted(Names()))
	assert.True(t, slices.IsSorted(missing))
	for _, name := range missing {
		assert.Nil(t, find(name), name)
	}
}
