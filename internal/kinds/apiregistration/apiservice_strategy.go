package apiregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultAPIService(obj map[string]any) {
	kind.DefaultServiceReference(object.Map(obj, "spec", "service"))
}

// prepareAPIService sets the condition Available of a new APIService that has no
// service.
func prepareAPIService(obj map[string]any, old object.View) {
	if !old.IsNil() || object.Value(obj, "spec", "service") != nil {
		return
	}
	obj["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Available", "status": "True", "reason": "Local",
		"message":            "Local APIServices are always available",
		"lastTransitionTime": object.Value(obj, "metadata", "creationTimestamp"),
	}}}
}

var apiServiceStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		RepeatsErrors:              true,
		MetadataValidation:         resource.MetadataUpdateAndCreate,
		Name:                       validation.RBACName,
		Default:                    defaultAPIService,
		Prepare:                    prepareAPIService,
		Validate:                   validateAPIService,
	},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateAPIServiceStatus,
	},
	Cells: apiServiceCells,
}
