package resourceapi

import (
	"encoding/json"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// checkImmutable checks that an object did not change. The error quotes it as the Go
// type typ.
func checkImmutable(p validation.View, old object.View, typ string) {
	checkUnmodified(p, old, typ, immutable)
}

const immutable = "field is immutable"

// checkUnmodified is checkImmutable with the detail that the error has since v1.37.
func checkUnmodified(p validation.View, old object.View, typ, detail string) {
	if !validation.Equal(p.Obj, old) {
		p.Add(validation.Invalid(p.Path, nil, detail).Before(behavior.DeclarativeErrors, validation.Instead(validation.Invalid(p.Path, validation.AsGoType(typ, p.Obj), immutable))).Declarative())
	}
}

// checkSize checks that a list has at most limit items, and reports whether it has.
// The items of longer lists are not checked.
func checkSize(p validation.View, name string, limit int) bool {
	if n := p.Len(name); n > limit {
		p.Add(validation.TooMany(p.At(name), n, limit))
		return false
	}
	return true
}

// handwrittenSizes are the lists whose lengths declarative validation does not check.
var handwrittenSizes = map[string]bool{"devices": true, "taints": true}

// tooManyItems checks that a list has at most limit items, and reports whether it has more.
// checkAll checks its items, and checkRest the whole list. Releases before v1.35 check longer
// lists too.
func tooManyItems(p validation.View, name string, limit int, checkAll, checkRest func(validation.View)) bool {
	if p.Len(name) <= limit {
		return false
	}
	p.AddList(validation.Collect(p.Obj, p.Path, checkAll).Until(behavior.DeclarativeDevices))
	if handwrittenSizes[name] {
		checkSize(p, name, limit)
	} else {
		p.Declarative(func(p validation.View) { checkSize(p, name, limit) })
	}
	p.AddList(validation.Collect(p.Obj, p.Path, checkRest).Until(behavior.DeclarativeDevices))
	return true
}

// checkItems checks that a list has at most limit items, and calls rule for each.
func checkItems(p validation.View, name string, limit int, rule func(validation.View)) {
	each := func(p validation.View) {
		for _, item := range p.Each(name) {
			rule(item)
		}
	}
	if !tooManyItems(p, name, limit, each, func(validation.View) {}) {
		each(p)
	}
}

// A keyedList is a list of at most limit objects with a field key that must be unique. Since v1.37
// the error of a duplicate is that of declarative validation and quotes the object of type kind at
// path, if there is one.
type keyedList struct {
	limit int
	key   string
	kind  string
	path  []string
}

var (
	requestList     = keyedList{maxDeviceRequests, "name", "ResourceClaim", []string{"spec", "devices", "requests"}}
	choiceList      = keyedList{maxDeviceChoices, "name", "ResourceClaim", []string{"spec", "devices", "requests", "firstAvailable"}}
	consumerList    = keyedList{maxDeviceConsumers, "uid", "ResourceClaim", []string{"status", "reservedFor"}}
	counterSetList  = keyedList{maxCounterSets, "name", "ResourceSlice", []string{"spec", "sharedCounters"}}
	consumptionList = keyedList{maxConsumptions, "counterSet", "ResourceSlice", []string{"spec", "devices", "consumesCounters"}}
)

// quoted returns an element as the error of a duplicate quotes it.
func (l keyedList) quoted(item map[string]any) any {
	if l.kind == "" {
		return object.String(item, l.key)
	}
	return quotedItem(l.kind, item, l.path...)
}

// quotedItem returns an element of the list at a path of a kind in v1, as errors quote it since v1.37.
func quotedItem(kind string, item map[string]any, path ...string) json.RawMessage {
	return quotedItemIn("v1", kind, item, path...)
}

// quotedItemIn is quotedItem for a kind in another version.
func quotedItemIn(version, kind string, item map[string]any, path ...string) json.RawMessage {
	return wire.QuotedElement("resource.k8s.io", version, kind, path, item)
}

// checkKeyedItems is checkItems for the objects of a keyedList.
func checkKeyedItems(p validation.View, name string, l keyedList, rule func(validation.View)) {
	each := func(p validation.View) {
		for _, item := range p.Each(name) {
			rule(item)
		}
	}
	unique := func(p validation.View) {
		seen := map[string]bool{}
		for _, item := range p.Each(name) {
			value := item.String(l.key)
			if seen[value] {
				twice := validation.Duplicate(item.Path, l.quoted(item.Obj)).
					Before(behavior.DeclarativeDevices, validation.Instead(validation.Duplicate(item.At(l.key), value))).Before(behavior.DeclarativeErrors, validation.Instead(validation.Duplicate(item.Path, value)))
				if l.kind != "" {
					twice.Declarative()
				}
				p.Add(twice)
			}
			seen[value] = true
		}
	}
	if !tooManyItems(p, name, l.limit, each, unique) {
		each(p)
		unique(p)
	}
}

// checkUniqueStrings checks that a list has at most limit strings and no duplicates,
// and calls rule for each.
func checkUniqueStrings(p validation.View, name string, limit int, rule func(text string, path *validation.Path) validation.List) {
	list := p.Strings(name)
	each := func(p validation.View) {
		for i, text := range list {
			p.AddList(rule(text, p.At(name).Index(i)))
		}
	}
	unique := func(p validation.View) {
		for i, text := range list {
			if slices.Contains(list[:i], text) {
				p.Add(validation.Duplicate(p.At(name).Index(i), text).Declarative())
			}
		}
	}
	if !tooManyItems(p, name, limit, each, unique) {
		each(p)
		unique(p)
	}
}

// checkEntries calls key and rule for the keys and the objects of a map. Paths contain
// keys shortened to maxLength, those of errors of keys since v1.36 none.
func checkEntries(p validation.View, name string, maxLength int, key func(string, *validation.Path) validation.List, rule func(validation.View)) {
	for k, v := range p.Entries(name) {
		m, _ := v.(map[string]any)
		at := p.At(name).Key(shorten(k, maxLength))
		p.AddList(key(k, p.At(name)).Since(behavior.DeviceKeyPaths))
		p.AddList(key(k, at).Until(behavior.DeviceKeyPaths))
		rule(validation.View{Obj: m, Path: at, Errs: p.Errs})
	}
}

// shorten returns s with its middle replaced by "..." if it is longer than maxLength.
func shorten(s string, maxLength int) string {
	const ellipsis = "..."
	if len(s) <= maxLength {
		return s
	}
	rest := maxLength - len(ellipsis)
	return s[:(rest+1)/2] + ellipsis + s[len(s)-rest/2:]
}
