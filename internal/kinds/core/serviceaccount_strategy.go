package core

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

// prepareServiceAccount removes everything but the name from references to secrets.
func prepareServiceAccount(obj, _ map[string]any) {
	object.PruneItems(obj, "secrets", func(field string) bool { return field != "name" })
}

const mountableSecretsAnnotation = "kubernetes.io/enforce-mountable-secrets"

// serviceAccountWarnings warns of a deprecated annotation that a write adds.
func serviceAccountWarnings(obj, old map[string]any) []string {
	annotated := func(obj map[string]any) bool {
		_, ok := object.Map(object.Meta(obj), "annotations")[mountableSecretsAnnotation]
		return ok
	}
	if !annotated(obj) || old != nil && annotated(old) {
		return nil
	}
	return []string{"metadata.annotations[" + mountableSecretsAnnotation + "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
}

var serviceAccountStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Prepare:                  prepareServiceAccount,
		WarningsOnWrite:          serviceAccountWarnings,
	},
	Cells: serviceAccountCells,
}

// serviceAccountCells returns the cells of a ServiceAccount.
func serviceAccountCells(r table.Row) []any {
	if r.Before(behavior.ServiceAccountColumns) {
		return []any{r.Name(), r.Len("secrets"), r.Age()}
	}
	return table.NameAndAge(r)
}
