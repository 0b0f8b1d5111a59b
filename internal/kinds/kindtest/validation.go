package kindtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A ValidationRow expects the validation errors of body, or of an update from old
// to body; "" expects none.
type ValidationRow = struct {
	Name, Old, Body, Want string
}

// TestValidation checks the validation of creates and updates, also beside an unchanged pod template,
// and that validation does not change objects.
func TestValidation(t *testing.T, name string, rows []ValidationRow) {
	typ := TypeOf(t, name)
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			var obj, old map[string]any
			if r.Old == "" {
				obj = Create(t, typ, r.Body)
			} else {
				old = Create(t, typ, r.Old)
				obj = Decode(t, typ, r.Body)
				Allocate(t, typ, obj, old)
				Prepare(typ, obj, old)
				object.Set(obj, "u", "metadata", "uid")
				if typ.Namespaced {
					object.Set(obj, "n", "metadata", "namespace")
				}
			}
			CheckValidation(t, r, validator(t, typ.Strategy), obj, old)
			if beside := typ.BesideTemplate.Validate; beside != nil && old != nil && object.Equal(At(obj, "spec.template"), At(old, "spec.template")) {
				CheckValidation(t, r, beside, obj, old)
			}
		})
	}
}

// TestStatusValidation checks the validation of updates of status. Old is stored
// without calling Prepare.
func TestStatusValidation(t *testing.T, name string, rows []ValidationRow) {
	typ := TypeOf(t, name)
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			old := Decode(t, typ, r.Old)
			obj := Decode(t, typ, r.Body)
			typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
			CheckValidation(t, r, validator(t, typ.SubresourceStrategies["status"]), obj, old)
		})
	}
}

// validator returns the validation of a strategy.
func validator(t *testing.T, s interface {
	ValidateAll(ctx context.Context, obj map[string]any, old object.View, errs validation.List) validation.List
}) func(obj map[string]any, old object.View) validation.List {
	return func(obj map[string]any, old object.View) validation.List {
		return s.ValidateAll(context.Background(), obj, old, nil)
	}
}

// CheckValidation compares the errors that validate returns with r.Want, and checks
// that it does not change the objects.
func CheckValidation(t *testing.T, r ValidationRow, validate func(obj map[string]any, old object.View) validation.List, obj, old map[string]any) {
	t.Helper()
	kept, keptOld := object.Copy(obj), object.Copy(old)
	var errs []string
	for _, e := range validate(obj, object.ViewOf(old)) {
		errs = append(errs, e.Error())
	}
	assert.Equal(t, r.Want, Errors(errs...))
	assert.Equal(t, kept, obj)
	assert.Equal(t, keptOld, old)
}

// Errors joins error texts in the format of kube-apiserver's aggregate errors.
func Errors(texts ...string) string {
	if len(texts) > 1 {
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return strings.Join(texts, "")
}

// A PatchRow expects the validation errors of a valid base object after a JSON merge
// patch.
type PatchRow = struct {
	Name, Patch, Want string
}

// TestPatched checks creates of the patched base.
func TestPatched(t *testing.T, name, base string, rows []PatchRow) {
	TestValidation(t, name, ValidationRows(t, "", "", base, rows))
}

// TestPatchedUpdates checks updates from the base to the patched base.
func TestPatchedUpdates(t *testing.T, name, base string, rows []PatchRow) {
	TestValidation(t, name, ValidationRows(t, "update ", base, base, rows))
}

// TestPatchedStatus checks updates of the status of the base.
func TestPatchedStatus(t *testing.T, name, base string, rows []PatchRow) {
	TestStatusValidation(t, name, ValidationRows(t, "status ", base, base, rows))
}

// ValidationRows returns a row for each patch and one for the unpatched base.
func ValidationRows(t *testing.T, prefix, old, base string, patches []PatchRow) (out []ValidationRow) {
	t.Helper()
	for _, v := range append(patches, PatchRow{"unpatched", `{}`, ""}) {
		out = append(out, ValidationRow{prefix + v.Name, old, MergePatch(t, base, v.Patch), v.Want})
	}
	return out
}
