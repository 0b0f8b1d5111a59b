package certificates

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// prepareSigningRequest leaves a request as it was made.
func prepareSigningRequest(obj, old map[string]any) {
	if old != nil {
		object.Keep(obj, old, "spec")
	}
}

// stampSigningRequest says in a new request whose it is, and dates the
// conditions of one that is decided on.
func stampSigningRequest(obj, old map[string]any, by resource.Author) {
	if old == nil {
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
	before := object.List(old, "status", "conditions")
	for condition := range object.Each(object.Value(obj, "status", "conditions")) {
		object.SetDefault(condition, "lastUpdateTime", by.Now)
		if condition["lastTransitionTime"] != nil {
			continue
		}
		condition["lastTransitionTime"] = by.Now
		for c := range object.Each(before) {
			if kind.SameField(c, condition, "type") && kind.SameField(c, condition, "status") && c["lastTransitionTime"] != nil {
				condition["lastTransitionTime"] = c["lastTransitionTime"]
				break
			}
		}
	}
}

// list is a list of strings as a generic value, nil if it is empty.
func list(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return object.FromStrings(texts)
}

// extra are a user's attributes as a generic value, nil if there are none.
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

// prepareSigningRequestStatus leaves to a write of the status all but the
// decision, which has a subresource of its own.
func prepareSigningRequestStatus(obj, old map[string]any) {
	kind.StatusMetadataAll.Prepare(obj, old)
	conditions := object.List(obj, "status", "conditions")
	before := object.List(old, "status", "conditions")
	for _, typ := range []string{certificateApproved, certificateDenied} {
		mine, theirs := placesOf(conditions, typ), placesOf(before, typ)
		if len(mine) != len(theirs) {
			continue // which is refused
		}
		for i := range mine {
			conditions[mine[i]] = object.Copy(before[theirs[i]])
		}
	}
}

// prepareApproval leaves to a write of the approval the conditions alone.
func prepareApproval(obj, old map[string]any) {
	conditions := object.Value(obj, "status", "conditions")
	kind.StatusMetadataAll.Prepare(obj, old)
	status := object.Copy(object.Map(old, "status"))
	if status == nil {
		status = map[string]any{}
	}
	object.Keep(status, map[string]any{"conditions": conditions}, "conditions")
	if conditions == nil {
		delete(status, "conditions")
	}
	obj["status"] = status
}

// placesOf are where the conditions of a type stand in a list.
func placesOf(conditions []any, typ string) []int {
	var places []int
	for i, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == typ {
			places = append(places, i)
		}
	}
	return places
}

var certificateSigningRequestStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Name:                     validation.AnyName,
		Prepare:                  prepareSigningRequest,
		PrepareWithAuthor:        stampSigningRequest,
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
}

// The conditions of a request. They are never withdrawn, and the first two
// exclude each other.
const (
	certificateApproved = "Approved"
	certificateDenied   = "Denied"
	certificateFailed   = "Failed"
)
