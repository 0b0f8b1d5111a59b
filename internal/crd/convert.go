package crd

import (
	"context"
	"fmt"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
)

// A convertFunc converts objects of a definition from any versions to one version. It may
// change the objects.
type convertFunc func(ctx context.Context, objs []map[string]any) ([]map[string]any, error)

// converter returns the function that creates the convertFunc of a version for the
// definition's conversion strategy.
func (d *Definition) converter(o Options, all []*resource.Type) func(v *version) convertFunc {
	if d.hasConversionWebhook() {
		return func(v *version) convertFunc { return v.convertWebhook(o) }
	}
	return func(v *version) convertFunc { return v.convertNone }
}

func (d *Definition) hasConversionWebhook() bool {
	return d.spec.String("conversion", "strategy") == "Webhook"
}

// convertNone implements the conversion strategy None: it changes apiVersion.
func (v *version) convertNone(_ context.Context, objs []map[string]any) ([]map[string]any, error) {
	for _, obj := range objs {
		obj["apiVersion"] = v.typ.GroupVersion.String()
	}
	return objs, nil
}

// prune removes the fields that the schema of the version does not have.
func (v *version) prune(obj map[string]any) error {
	_, _, err := v.codec.coerce(v.schema, obj, nil, schema.CoerceOptions{KeepUnknown: v.keepsUnknown()})
	return err
}

// withoutUnknown returns obj without the fields that the schema of the version does not have: obj
// itself if it has none.
func (v *version) withoutUnknown(obj map[string]any) map[string]any {
	if v.keepsUnknown() {
		return obj
	}
	return v.schema.WithoutUnknown(obj)
}

// unknownVersion is the error of a conversion to a version that the definition does not
// have.
func unknownVersion(apiVersion string) error {
	return fmt.Errorf("request to convert CR to an invalid group/version: %s", apiVersion)
}
