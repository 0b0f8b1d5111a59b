package apps_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateControllerRevision(t *testing.T) {
	const base = `{"metadata":{"name":"a","namespace":"n"},"revision":1,"data":{"a":1}}`
	kindtest.TestPatched(t, "controllerrevisions.apps", base, []kindtest.PatchRow{
		{"no data", `{"data":null}`, `data: Required value: data is mandatory`},
		{"other data", `{"data":[1]}`, `data: Required value: data must be a valid JSON object`},
		{"revision", `{"revision":-1}`, `revision: Invalid value: -1: must be greater than or equal to 0`},
	})
	kindtest.TestPatchedUpdates(t, "controllerrevisions.apps", base, []kindtest.PatchRow{
		{"data", `{"data":{"a":2}}`, `data: Invalid value: {"a":2}: field is immutable`},
		{"revision", `{"revision":2}`, ""},
	})
}
