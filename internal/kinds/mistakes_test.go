package kinds

import (
	"strings"
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
				object.Set(obj, "u", "metadata", "uid")
				if typ.Namespaced {
					object.Set(obj, "n", "metadata", "namespace")
				}
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
	var mistakes []string
	for _, e := range validate(obj, old) {
		mistakes = append(mistakes, e.Error())
	}
	assert.Equal(t, r.want, all(mistakes...))
	assert.Equal(t, kept, obj)
	assert.Equal(t, keptOld, old)
}

// all is how mistakes are told together.
func all(mistakes ...string) string {
	if len(mistakes) > 1 {
		return "[" + strings.Join(mistakes, ", ") + "]"
	}
	return strings.Join(mistakes, "")
}

// A variant is a row of validation of a base that is valid: what is said of it
// once a merge patch has changed it.
type variant struct {
	name, patch, want string
}

// testVariants checks rows on new objects.
func testVariants(t *testing.T, name, base string, rows []variant) {
	testVerdicts(t, name, verdicts(t, "", "", base, rows))
}

// testUpdatedVariants checks rows on updates of the base.
func testUpdatedVariants(t *testing.T, name, base string, rows []variant) {
	testVerdicts(t, name, verdicts(t, "update ", base, base, rows))
}

// testStatusVariants checks rows on updates of the status of the base.
func testStatusVariants(t *testing.T, name, base string, rows []variant) {
	testStatusVerdicts(t, name, verdicts(t, "status ", base, base, rows))
}

// verdicts are those on the variants of a base, and on the base as it is, in
// place of an old object if there is one.
func verdicts(t *testing.T, prefix, old, base string, variants []variant) (rows []verdict) {
	t.Helper()
	for _, v := range append(variants, variant{"as it is", `{}`, ""}) {
		rows = append(rows, verdict{prefix + v.name, old, patched(t, base, v.patch), v.want})
	}
	return rows
}
