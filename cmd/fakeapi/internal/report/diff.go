package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/printable"
)

// diff prints what defaults and policies change in an object, for each release whose changes are not
// those of the one before.
func (t *text) diff(r *manifests.Result) {
	last := ""
	for _, a := range r.Answers {
		if a.Object == nil {
			continue
		}
		var lines []string
		difference(&lines, "", stable(r.Object), stable(a.Object))
		changes := strings.Join(lines, "\n")
		if changes == last {
			continue
		}
		last = changes
		t.head(r)
		title := "  " + at(r.Line, r.Column) + "  " + printable.Line(describe(r))
		if len(r.Answers) > 1 {
			title += " [" + a.Release + "]"
		}
		fmt.Fprintln(t.w, title)
		for _, line := range lines {
			color := map[byte]string{'+': green, '-': red, '~': yellow}[line[0]]
			fmt.Fprintln(t.w, "      "+t.color(color, printable.Line(line)))
		}
	}
}

// difference adds a line for each field that was added (+), removed (-) or changed (~).
func difference(lines *[]string, path string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	fromMap, isMap := from.(map[string]any)
	toMap, bothMaps := to.(map[string]any)
	fromList, isList := from.([]any)
	toList, bothLists := to.([]any)
	switch {
	case isMap && bothMaps:
		names := maps.Clone(fromMap)
		maps.Copy(names, toMap)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			f, had := fromMap[name]
			v, has := toMap[name]
			change(lines, member(path, name), had, f, has, v)
		}
	case isList && bothLists:
		for i := range max(len(fromList), len(toList)) {
			var f, v any
			if i < len(fromList) {
				f = fromList[i]
			}
			if i < len(toList) {
				v = toList[i]
			}
			change(lines, fmt.Sprintf("%s[%d]", path, i), i < len(fromList), f, i < len(toList), v)
		}
	default:
		*lines = append(*lines, fmt.Sprintf("~ %s: %s -> %s", path, compact(from), compact(to)))
	}
}

// change adds the lines of a member or element that is there before, after or both.
func change(lines *[]string, path string, had bool, from any, has bool, to any) {
	switch {
	case had && has:
		difference(lines, path, from, to)
	case has:
		*lines = append(*lines, fmt.Sprintf("+ %s: %s", path, compact(to)))
	default:
		*lines = append(*lines, fmt.Sprintf("- %s: %s", path, compact(from)))
	}
}

// member returns the path of a member.
func member(path, name string) string {
	switch {
	case strings.ContainsAny(name, ".[]\" "):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// compact returns a value as JSON in a line.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // unreachable: v is decoded JSON
		return err.Error()
	}
	return string(text)
}
