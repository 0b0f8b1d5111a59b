package certificates

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var clusterTrustBundleStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation: resource.MetadataUpdateAndCreate,
		Name:               validation.AnyName, // validateTrustBundle checks it
		Validate:           validateTrustBundle,
		SelectableFields:   []resource.Field{kind.SelectableField("spec.signerName", "spec", "signerName")},
		FieldLabelError:    kind.FieldLabelNotSupported,
	},
	Cells: clusterTrustBundleCells,
}
