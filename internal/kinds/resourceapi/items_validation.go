package resourceapi

import (
	"slices"

	"github.com/kubefake/kubefake/internal/validation"
)

// checkFixed checks that a part is as it was; its type is what messages print it by.
func checkFixed(p validation.View, old map[string]any, typ string) {
	if !validation.Equal(p.Obj, old) {
		p.Add(validation.Invalid(p.Path, validation.AsGoType(typ, p.Obj), "field is immutable"))
	}
}

// checkSize checks the length of a list, and reports whether its items may be
// looked at.
func checkSize(p validation.View, name string, most int) bool {
	if n := p.Len(name); n > most {
		p.Add(validation.TooMany(p.At(name), n, most))
		return false
	}
	return true
}

// checkItems checks the objects of a list of at most so many.
func checkItems(p validation.View, name string, most int, rule func(validation.View)) {
	if checkSize(p, name, most) {
		for _, item := range p.Each(name) {
			rule(item)
		}
	}
}

// checkKeyedItems is parts for objects that a member tells apart.
func checkKeyedItems(p validation.View, name string, most int, key string, rule func(validation.View)) {
	if !checkSize(p, name, most) {
		return
	}
	checkItems(p, name, most, rule)
	seen := map[string]bool{}
	for _, item := range p.Each(name) {
		value := item.String(key)
		if seen[value] {
			p.Add(validation.Duplicate(item.Path, value))
		}
		seen[value] = true
	}
}

// checkUniqueStrings checks the strings of a list of at most so many, all different.
func checkUniqueStrings(p validation.View, name string, most int, rule func(text string, path *validation.Path) validation.List) {
	if !checkSize(p, name, most) {
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

// checkEntries checks the keys and the objects of a map. Long keys are shortened in
// paths.
func checkEntries(p validation.View, name string, longest int, key func(string, *validation.Path) validation.List, rule func(validation.View)) {
	for k, v := range p.Entries(name) {
		m, _ := v.(map[string]any)
		p.AddList(key(k, p.At(name)))
		rule(validation.View{Obj: m, Path: p.At(name).Key(shortened(k, longest)), Errs: p.Errs})
	}
}

// shortened cuts out the middle of a long text.
func shortened(s string, longest int) string {
	const ellipsis = "..."
	if len(s) <= longest {
		return s
	}
	rest := longest - len(ellipsis)
	return s[:(rest+1)/2] + ellipsis + s[len(s)-rest/2:]
}
