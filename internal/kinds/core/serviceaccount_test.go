package core_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestPrepareServiceAccount(t *testing.T) {
	kindtest.TestCreates(t, "serviceaccounts", []kindtest.Row{
		{"only names of secrets", `{"secrets":[{"kind":"Secret","name":"a","namespace":"b"}]}`, "secrets", `[{"name":"a"}]`},
	})
}

func TestServiceAccountWarnings(t *testing.T) {
	typ := kindtest.TypeOf(t, "serviceaccounts")
	const annotated = `{"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}}`
	for _, row := range []struct {
		name, obj, old string
		warns          bool
	}{
		{"created", annotated, "", true},
		{"added", annotated, `{}`, true},
		{"had it", annotated, annotated, false},
		{"without", `{}`, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var old map[string]any
			if row.old != "" {
				old = kindtest.Decode(t, typ, row.old)
			}
			assert.Equal(t, row.warns, len(typ.WarningsOnWrite(kindtest.Decode(t, typ, row.obj), object.ViewOf(old))) > 0)
		})
	}
}
