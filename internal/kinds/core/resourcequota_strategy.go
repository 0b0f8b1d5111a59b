package core

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultResourceQuota(obj map[string]any) {
	quantity.RoundList(object.Value(obj, "spec", "hard"))
	quantity.RoundList(object.Value(obj, "status", "hard"))
	quantity.RoundList(object.Value(obj, "status", "used"))
}

var resourceQuotaStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Default:                  defaultResourceQuota,
		Validate:                 validateQuota,
		WarningsOnWrite:          warnQuota,
	},
	Status: kind.Status{Validate: validateQuotaStatus},
	Cells:  resourceQuotaCells,
}
