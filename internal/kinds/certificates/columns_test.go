package certificates_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "certificatesigningrequests.certificates.k8s.io", []kindtest.CellsRow{
		{"signing request", `{spec: {username: u, signerName: s, expirationSeconds: 3600}, status: {certificate: eA==, conditions: [{type: Approved}, {type: Failed}]}}`,
			[]any{"a", "60m", "s", "u", "60m", "Approved,Failed,Issued"}},
	})
}
