package resourceapi

import (
	"slices"

	"github.com/kubefake/kubefake/internal/validation"
)

// checkImmutable checks that an object did not change. The error quotes it as the Go
// type typ.
func checkImmutable(p validation.View, old map[string]any, typ string) {
	if !validation.Equal(p.Obj, old) {
		p.Add(validation.Invalid(p.Path, nil, "field is immutable").ValueBefore(37, validation.AsGoType(typ, p.Obj)))
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

// checkItems checks that a list has at most limit items, and calls rule for each.
func checkItems(p validation.View, name string, limit int, rule func(validation.View)) {
	if checkSize(p, name, limit) {
		for _, item := range p.Each(name) {
			rule(item)
		}
	}
}

// checkKeyedItems is checkItems for objects with a field key that must be unique.
func checkKeyedItems(p validation.View, name string, limit int, key string, rule func(validation.View)) {
	if !checkSize(p, name, limit) {
		return
	}
	checkItems(p, name, limit, rule)
	seen := map[string]bool{}
	for _, item := range p.Each(name) {
		value := item.String(key)
		if seen[value] {
			p.Add(validation.Duplicate(item.Path, value).FieldBefore(35, item.At(key).String()))
		}
		seen[value] = true
	}
}

// checkUniqueStrings checks that a list has at most limit strings and no duplicates,
// and calls rule for each.
func checkUniqueStrings(p validation.View, name string, limit int, rule func(text string, path *validation.Path) validation.List) {
	if !checkSize(p, name, limit) {
		return
	}
	list := p.Strings(name)
	for i, text := range list {
		p.AddList(rule(text, p.At(name).Index(i)))
	}
	for i, text := range list {
		if slices.Contains(list[:i], text) {
			p.Add(validation.Duplicate(p.At(name).Index(i), text))
		}
	}
}

// checkEntries calls key and rule for the keys and the objects of a map. Paths contain
// keys shortened to maxLength.
func checkEntries(p validation.View, name string, maxLength int, key func(string, *validation.Path) validation.List, rule func(validation.View)) {
	for k, v := range p.Entries(name) {
		m, _ := v.(map[string]any)
		p.AddList(key(k, p.At(name)))
		rule(validation.View{Obj: m, Path: p.At(name).Key(shorten(k, maxLength)), Errs: p.Errs})
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
