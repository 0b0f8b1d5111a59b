package storage

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateVolumeAttributesClass(obj map[string]any, old object.View) validation.List {
	class := func(p validation.View) {
		if p.Require("driverName") {
			checkDriver(p, "driverName")
		}
		before := len(p.Errs.List)
		checkParameters(p)
		if p.Len("parameters") == 0 && p.NoErrorsSince(before) {
			p.Required("parameters", "must contain at least one key/value pair")
		}
	}
	if old.IsNil() {
		return validation.Collect(obj, nil, class)
	}
	return validation.Collect(obj, nil, func(p validation.View) {
		for _, name := range []string{"driverName", "parameters"} {
			if !validation.Equal(p.Obj[name], old.At(name)) {
				p.Forbidden(name, "updates to "+name+" are forbidden.")
			}
		}
	}, class)
}
