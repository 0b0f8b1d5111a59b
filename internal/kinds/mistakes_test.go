package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A verdict is a row of validation: what is said of body, or of body in place of
// what was created from old; "" if it is valid.
type verdict struct {
	name, old, body, want string
}

// testVerdicts checks rows of validation. Objects are left as they are.
func testVerdicts(t *testing.T, name string, rows []verdict) {
	typ := typeOf(t, name)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var obj, old map[string]any
			if r.old == "" {
				obj = created(t, typ, r.body)
			} else {
				old = created(t, typ, r.old)
				obj = decoded(t, typ, r.body)
				allocate(t, typ, obj, old)
				typ.Prepare(obj, old)
			}
			r.judge(t, typ.Validate, obj, old)
		})
	}
}

// testStatusVerdicts checks rows of validation of a status. Body and old are
// stored as they are.
func testStatusVerdicts(t *testing.T, name string, rows []verdict) {
	typ := typeOf(t, name)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			old := decoded(t, typ, r.old)
			obj := decoded(t, typ, r.body)
			typ.PrepareStatus(obj, old)
			r.judge(t, typ.ValidateStatus, obj, old)
		})
	}
}

func (r verdict) judge(t *testing.T, validate func(obj, old map[string]any) validation.List, obj, old map[string]any) {
	t.Helper()
	kept, keptOld := object.Copy(obj), object.Copy(old)
	assert.Equal(t, r.want, validate(obj, old).Message())
	assert.Equal(t, kept, obj)
	assert.Equal(t, keptOld, old)
}
