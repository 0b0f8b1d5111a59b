package flowcontrol_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultFlowControl(t *testing.T) {
	const group = ".flowcontrol.apiserver.k8s.io"
	kindtest.TestDefaults(t, "flowschemas"+group, []kindtest.Row{{"precedence", `{}`, "spec.matchingPrecedence", `1000`}})
	kindtest.TestDefaults(t, "prioritylevelconfigurations"+group, []kindtest.Row{
		{"limited", `{"spec":{"limited":{"limitResponse":{"queuing":{"queues":3}}}}}`, "spec.limited", `{"nominalConcurrencyShares":30,"lendablePercent":0,"limitResponse":{"type":"","queuing":{"handSize":8,"queues":3,"queueLengthLimit":50}}}`},
		{"no shares", `{"spec":{"limited":{"nominalConcurrencyShares":0,"limitResponse":{}}}}`, "spec.limited.nominalConcurrencyShares", `0`},
		{"exempt", `{"spec":{"exempt":{}}}`, "spec.exempt", `{"nominalConcurrencyShares":0,"lendablePercent":0}`},
	})
}
