package core_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestPrepareServiceAccount(t *testing.T) {
	kindtest.TestCreates(t, "serviceaccounts", []kindtest.Row{
		{"only names of secrets", `{"secrets":[{"kind":"Secret","name":"a","namespace":"b"}]}`, "secrets", `[{"name":"a"}]`},
	})
}
