package certificates

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// prepareSigningRequest keeps the spec on an update.
func prepareSigningRequest(obj map[string]any, old object.View) {
	if !old.IsNil() {
		object.Keep(obj, old, "spec")
	}
}

// stampSigningRequest sets the user in the spec of a new request. On an update it sets
// the times of the conditions.
func stampSigningRequest(obj map[string]any, old object.View, by resource.Author) {
	if old.IsNil() {
		spec := object.EnsureMap(obj, "spec")
		for name, v := range map[string]any{"username": by.Name, "uid": by.UID, "groups": list(by.Groups), "extra": extra(by.Extra)} {
			if v == nil || v == "" {
				delete(spec, name)
			} else {
				spec[name] = v
			}
		}
		return
	}
	before := old.At("status", "conditions")
	for condition := range object.Each(ownConditions(obj)) {
		object.SetDefault(condition, "lastUpdateTime", by.Now)
		if condition["lastTransitionTime"] != nil {
			continue
		}
		condition["lastTransitionTime"] = by.Now
		for c := range before.Objects() {
			if kind.SameField(condition, c, "type") && kind.SameField(condition, c, "status") && !c.IsNil("lastTransitionTime") {
				condition["lastTransitionTime"] = c.At("lastTransitionTime").Shared()
				break
			}
		}
	}
}

// list returns the strings as a generic list, or nil if there are none.
func list(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return object.FromStrings(texts)
}

// extra returns the extra attributes of a user as a generic map, or nil if there are
// none.
func extra(attributes map[string][]string) any {
	if len(attributes) == 0 {
		return nil
	}
	out := make(map[string]any, len(attributes))
	for name, values := range attributes {
		out[name] = list(values)
	}
	return out
}

// prepareSigningRequestStatus keeps the conditions Approved and Denied, which only the
// approval subresource changes.
func prepareSigningRequestStatus(obj map[string]any, old object.View) {
	kind.StatusMetadataAll.Prepare(obj, old)
	conditions, before := ownConditions(obj), old.At("status", "conditions")
	for _, typ := range []string{certificateApproved, certificateDenied} {
		now, was := conditionIndexes(object.ViewOf(conditions), typ), conditionIndexes(before, typ)
		if len(now) != len(was) {
			continue // validation rejects it
		}
		for i := range now {
			conditions[now[i]] = before.Item(was[i]).Copy()
		}
	}
}

// prepareApproval keeps everything except status.conditions.
func prepareApproval(obj map[string]any, old object.View) {
	conditions := object.ViewOf(obj).At("status", "conditions")
	kind.StatusMetadataAll.Prepare(obj, old)
	status := old.At("status").CopyObject()
	if status == nil {
		status = map[string]any{}
	}
	if status["conditions"] = conditions.Shared(); conditions.IsNil() {
		delete(status, "conditions")
	}
	obj["status"] = status
}

// ownConditions returns the conditions of obj, for a caller that changes them: other objects may share
// them.
func ownConditions(obj map[string]any) []any {
	conditions := object.List(obj, "status", "conditions")
	if len(conditions) == 0 {
		return nil
	}
	conditions = object.Copy(conditions)
	object.Own(obj, "status")["conditions"] = conditions
	return conditions
}

// conditionIndexes returns the indexes of the conditions of a type.
func conditionIndexes(conditions object.View, typ string) []int {
	var out []int
	for i, c := range conditions.Items() {
		if c.String("type") == typ {
			out = append(out, i)
		}
	}
	return out
}

var certificateSigningRequestStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Name:                     validation.AnyName,
		Prepare:                  prepareSigningRequest,
		PrepareWithAuthor:        stampSigningRequest,
		Updated:                  countIssued,
		Validate:                 validateSigningRequest,
		ResetFields:              []string{"spec"},
		SubresourceStrategies:    map[string]resource.SubresourceStrategy{"approval": {Prepare: prepareApproval, Validate: validateApproval, ResetFields: []string{"spec", "status.certificate"}}},
		SelectableFields:         []resource.Field{kind.SelectableField("spec.signerName", "spec", "signerName")},
		FieldLabelError:          kind.FieldLabelNotSupported,
	},
	Status: kind.Status{
		Prepare:     prepareSigningRequestStatus,
		Validate:    validateSigningRequestStatus,
		ResetFields: []string{"status.conditions"},
	},
	Cells: signingRequestCells,
}

// The types of a request's conditions. They cannot be removed. Approved and Denied
// exclude each other.
const (
	certificateApproved = "Approved"
	certificateDenied   = "Denied"
	certificateFailed   = "Failed"
)
