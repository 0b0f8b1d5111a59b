package core

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

// prepareServiceAccount removes everything but the name from references to secrets.
func prepareServiceAccount(obj map[string]any, _ object.View) {
	object.PruneItems(obj, "secrets", func(field string) bool { return field != "name" })
}

const mountableSecretsAnnotation = "kubernetes.io/enforce-mountable-secrets"

// serviceAccountWarnings warns of a deprecated annotation that a write adds.
func serviceAccountWarnings(obj map[string]any, old object.View) []string {
	annotated := func(account object.View) bool {
		return !account.IsNil("metadata", "annotations", mountableSecretsAnnotation)
	}
	if !annotated(object.ViewOf(obj)) || annotated(old) {
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
