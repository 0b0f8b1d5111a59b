package flowcontrol_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidatePriorityLevels(t *testing.T) {
	limited := func(members string) string { return `{"spec":{"type":"Limited","limited":{` + members + `}}}` }
	queues := func(members string) string {
		return limited(`"limitResponse":{"type":"Queue","queuing":{` + members + `}}`)
	}
	kindtest.TestValidation(t, "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", []kindtest.ValidationRow{
		{"valid", "", queues(``), ""},
		{"no type", "", `{}`, "spec.type: Required value"},
		{"unknown type", "", `{"spec":{"type":"a"}}`, `spec.type: Unsupported value: "a": supported values: "Exempt", "Limited"`},
		{"type Exempt with another name", "", `{"spec":{"type":"Exempt","limited":{"limitResponse":{"type":"Reject"}},"exempt":{"lendablePercent":101,"nominalConcurrencyShares":-1}}}`, "[spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt', spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer, spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive, spec.limited: Forbidden]"},
		{"no limited field", "", `{"spec":{"type":"Limited","exempt":{}}}`, "[spec.exempt: Forbidden, spec.limited: Required value]"},
		{"limits", "", limited(`"nominalConcurrencyShares":-1,"lendablePercent":-1,"borrowingLimitPercent":-1,"limitResponse":{"type":"a"}`), `[spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer, spec.limited.limitResponse.type: Unsupported value: "a": supported values: "Queue", "Reject", spec.limited.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive, spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer]`},
		{"Reject with queuing", "", limited(`"limitResponse":{"type":"Reject","queuing":{}}`), "spec.limited.limitResponse.queuing: Forbidden"},
		{"Queue without queuing", "", limited(`"limitResponse":{"type":"Queue"}`), "spec.limited.limitResponse.queuing: Required value"},
		{"queues", "", queues(`"queues":-1,"handSize":-1,"queueLengthLimit":-1`), "[spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive, spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive, spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive]"},
		{"too many queues", "", queues(`"queues":10000001,"handSize":2`), "spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000"},
		{"large hand", "", queues(`"queues":7`), "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (7)"},
		{"too many hash bits", "", queues(`"queues":64,"handSize":11`), "spec.limited.limitResponse.queuing.handSize: Invalid value: 11: required entropy bits of deckSize 64 and handSize 11 should not be greater than 60"},
		{"exempt", "", `{"metadata":{"name":"exempt"},"spec":{"type":"Exempt","exempt":{"lendablePercent":50}}}`, ""},
		{"fixed", "", `{"metadata":{"name":"catch-all"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}`, `spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":30,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of 'catch-all' must equal the fixed value`},
		{"not exempt", "", `{"metadata":{"name":"exempt"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}`, "[spec.type: Invalid value: \"Limited\": must be 'Exempt' if and only if `name` is 'exempt', spec: Invalid value: {\"Type\":\"Limited\",\"Limited\":{\"NominalConcurrencyShares\":30,\"LimitResponse\":{\"Type\":\"Reject\",\"Queuing\":null},\"LendablePercent\":0,\"BorrowingLimitPercent\":null},\"Exempt\":null}: spec of 'exempt' except the 'spec.exempt' field must equal the fixed value]"},
	})
}
