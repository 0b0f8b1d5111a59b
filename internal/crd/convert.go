package crd

import (
	"context"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// A convertFunc brings objects of a definition, in whatever versions they are,
// to one version. They are its own.
type convertFunc func(ctx context.Context, objs []map[string]any) ([]map[string]any, error)

// converter returns what makes the conversion to each version, as the
// definition's strategy has it.
func (d *Definition) converter(o Options, all []*resource.Type) func(v *version) convertFunc {
	if object.String(d.spec, "conversion", "strategy") == "Webhook" {
		return func(v *version) convertFunc { return v.byWebhook(o) }
	}
	return func(v *version) convertFunc { return v.byName }
}

// byName renames the version of objects: the strategy None.
func (v *version) byName(_ context.Context, objs []map[string]any) ([]map[string]any, error) {
	for _, obj := range objs {
		if err := v.accept(obj); err != nil {
			return nil, err
		}
	}
	return objs, nil
}

// accept makes an object one of the version: what the schema does not know
// goes.
func (v *version) accept(obj map[string]any) error {
	if obj["apiVersion"] == v.typ.GroupVersion.String() {
		return nil
	}
	obj["apiVersion"] = v.typ.GroupVersion.String()
	_, _, err := v.typ.Codec.(*customCodec).coerce(obj, nil, false)
	return err
}
