package taintnodesbycondition_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/taintnodesbycondition"
)

func TestNodes(t *testing.T) {
	const taint = `{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}`
	admissiontest.Run(t, taintnodesbycondition.Plugin{}, []admissiontest.Request{
		{Name: "other taint", Resource: "nodes", Object: `{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`, Path: "spec.taints", Want: `[{"key":"k","effect":"NoExecute"},` + taint + `]`},
		{Name: "tainted already", Resource: "nodes", Object: `{"spec":{"taints":[` + taint + `]}}`, Path: "spec.taints", Want: `[` + taint + `]`},
		{Name: "update", Resource: "nodes", Object: `{}`, Old: `{"spec":{"taints":[` + taint + `]}}`, Path: "spec.taints"},
	})
}
