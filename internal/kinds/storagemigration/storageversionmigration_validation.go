package storagemigration

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateStorageVersionMigration(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(migration validation.View) {
		of := migration.Field("spec").Field("resource")
		check := func(name string, format func(string) []string) {
			if messages := format(of.String(name)); len(messages) > 0 {
				of.InvalidString(name, strings.Join(messages, ","))
			}
		}
		if of.String("resource") == "" {
			of.Required("resource", "resource is required to be set")
		} else {
			check("resource", validation.DNS1035Label)
		}
		if of.String("group") != "" {
			check("group", validation.DNS1123Subdomain)
		}
		if !old.IsNil() {
			migration.ImmutableAs("spec", "storagemigration.StorageVersionMigrationSpec", old)
		}
	})
}

// validateStorageVersionMigrationStatus checks the status of a migration, which ends once:
// Succeeded or Failed.
func validateStorageVersionMigrationStatus(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(migration validation.View) {
		status, was := migration.Field("status"), old.String("status", "resourceVersion")
		version := status.String("resourceVersion")
		if version != "" && !isResourceVersion(version) {
			status.InvalidString("resourceVersion", "resource version is not well formed: "+version)
		}
		status.AddList(validation.Conditions(object.List(status.Obj, "conditions"), status.At("conditions")))
		if was != "" && version != was {
			status.InvalidString("resourceVersion", "field is immutable")
		}
		refuse := func(detail string) {
			status.Add(validation.Invalid(status.At("conditions"), validation.AsGoType("[]metav1.Condition", status.Obj["conditions"]), detail))
		}
		succeeded, failed := ended(object.ViewOf(obj), "Succeeded"), ended(object.ViewOf(obj), "Failed")
		if succeeded && failed {
			refuse("Both success and failed conditions cannot be true at the same time")
		}
		if ended(old, "Succeeded") && !succeeded {
			refuse("Success condition cannot be set to false once it is true")
		}
		if ended(old, "Failed") && !failed {
			refuse("Failed condition cannot be set to false once it is true")
		}
	})
}

// ended reports whether the first condition of a type is true.
func ended(migration object.View, typ string) bool {
	for c := range migration.At("status", "conditions").Objects() {
		if c.String("type") == typ {
			return c.String("status") == "True"
		}
	}
	return false
}

// isResourceVersion reports whether the text is a positive number without leading zeros.
func isResourceVersion(text string) bool {
	return text[0] != '0' && strings.Trim(text, "0123456789") == ""
}
