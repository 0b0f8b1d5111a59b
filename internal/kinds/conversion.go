package kinds

import (
	"context"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/admissionregistration"
	"github.com/kubefake/kubefake/internal/kinds/autoscaling"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/kinds/coordination"
	"github.com/kubefake/kubefake/internal/kinds/events"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/kinds/networking"
	"github.com/kubefake/kubefake/internal/kinds/resourceapi"
	"github.com/kubefake/kubefake/internal/kinds/scheduling"
	"github.com/kubefake/kubefake/internal/kinds/storage"
	"github.com/kubefake/kubefake/internal/kinds/storagemigration"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// conversions maps the versions of built-in resources that are not stored to their
// conversions.
var conversions = allConversions()

func allConversions() map[kind.VersionedResource]kind.Conversion {
	all := map[kind.VersionedResource]kind.Conversion{}
	for _, group := range []map[kind.VersionedResource]kind.Conversion{
		admissionregistration.Conversions(),
		autoscaling.Conversions(),
		certificates.Conversions(),
		coordination.Conversions(),
		events.Conversions(),
		networking.Conversions(),
		resourceapi.Conversions(),
		scheduling.Conversions(),
		storage.Conversions(),
		storagemigration.Conversions(),
	} {
		maps.Copy(all, group)
	}
	return all
}

// conversionOf returns the conversion between t and its storage version, and reports
// whether there is one. The zero Conversion changes only apiVersion.
func conversionOf(t *resource.Type) (c kind.Conversion, ok bool) {
	c, ok = conversions[kind.VersionedResource{GroupVersion: t.GroupVersion, Name: t.Name}]
	return c, ok || t.GroupVersion == t.Stored
}

// link sets Versions, Convert and the strategy of each type, so that all versions
// of a resource share them. minor is the minor number of the release, 0 for the newest one.
func link(types []*resource.Type, minor int) {
	families := map[string][]*resource.Type{}
	for _, t := range types {
		if _, ok := conversionOf(t); ok && t.Strategy != nil {
			families[t.Prefix] = append(families[t.Prefix], t)
		}
	}
	for _, family := range families {
		stored := family[0].Stored
		i := slices.IndexFunc(family, func(t *resource.Type) bool { return t.GroupVersion == stored })
		if len(family) == 1 || i < 0 {
			continue
		}
		for _, t := range family {
			t.Versions, t.Convert = family, convertTo(t, family[i], minor)
		}
		for _, t := range family {
			if c := conversions[kind.VersionedResource{GroupVersion: t.GroupVersion, Name: t.Name}]; c.ToStored != nil {
				t.Strategy = c.Strategy(t, family[i])
			}
		}
	}
}

// convertTo returns the function that converts objects to the storage version and
// then to t in a release.
func convertTo(t, stored *resource.Type, minor int) func(context.Context, []map[string]any) ([]map[string]any, error) {
	return func(_ context.Context, objs []map[string]any) ([]map[string]any, error) {
		for i, obj := range objs {
			from := t.In(object.String(obj, "apiVersion"))
			if from == nil || from == t {
				continue
			}
			if c, _ := conversionOf(from); from != stored && c.ToStored != nil {
				obj = c.ToStored(obj)
			}
			if c, _ := conversionOf(t); t != stored && c.FromStored != nil {
				obj = c.FromStored(minor, obj)
			}
			obj["apiVersion"] = t.GroupVersion.String()
			normal, _, err := t.Codec.Normalize(obj, false)
			if err != nil {
				return nil, err
			}
			objs[i] = normal
		}
		return objs, nil
	}
}
