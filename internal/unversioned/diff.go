package unversioned

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Diff returns the difference between the indented JSON of two values of a type, in
// the unified format, with the types of a release. It is empty if they are equal.
//
// Differs from kube-apiserver: differences of specs before v1.34: kube-apiserver prints them
// as Go values, in a layout that changes from build to build. Here they are JSON, as since
// v1.34. Request: PUT of a Pod with another restartPolicy with --release=1.33.
func Diff(minor int, typ string, a, b any) string {
	r := release(minor)
	return unified(r.lines(typ, a), r.lines(typ, b))
}

func (r release) lines(typ string, v any) []string {
	var b bytes.Buffer
	if err := json.Indent(&b, r.appendValue(nil, typ, v), "", " "); err != nil {
		panic("unversioned: " + err.Error()) // unreachable: appendValue makes JSON
	}
	return strings.Split(b.String(), "\n")
}

// context is the number of lines around a change.
const context = 3

// An edit replaces the lines a to aEnd of the old text by the lines b to bEnd of
// the new one. If equal is true, they are the same.
type edit struct {
	equal            bool
	a, aEnd, b, bEnd int
}

// unified compares two texts with the algorithm of Python's difflib, of which
// kube-apiserver uses a translation, so that the hunks are the same.
func unified(a, b []string) string {
	var out strings.Builder
	for _, hunk := range hunks(edits(a, b)) {
		first, last := hunk[0], hunk[len(hunk)-1]
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(first.a, last.aEnd), span(first.b, last.bEnd))
		for _, e := range hunk {
			if e.equal {
				writeLines(&out, ' ', a[e.a:e.aEnd])
				continue
			}
			writeLines(&out, '-', a[e.a:e.aEnd])
			writeLines(&out, '+', b[e.b:e.bEnd])
		}
	}
	return out.String()
}

func writeLines(out *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		out.WriteByte(mark)
		out.WriteString(line)
		out.WriteByte('\n')
	}
}

// span returns a range of lines in a hunk header: the number of the first line,
// from 1, and the number of lines unless it is 1. For no lines it has the number
// of the line before.
func span(start, end int) string {
	switch n := end - start; n {
	case 1:
		return fmt.Sprint(start + 1)
	case 0:
		return fmt.Sprintf("%d,0", start)
	default:
		return fmt.Sprintf("%d,%d", start+1, n)
	}
}

// hunks groups edits: each change with its context, and changes whose contexts
// touch together.
func hunks(all []edit) (groups [][]edit) {
	var group []edit
	for i, e := range all {
		if !e.equal {
			group = append(group, e)
			continue
		}
		n := e.aEnd - e.a
		isFirst, isLast := i == 0, i == len(all)-1
		switch {
		case isFirst && isLast:
		case isFirst:
			group = append(group, e.tail(context))
		case isLast:
			group = append(group, e.head(context))
		case n > 2*context:
			groups = append(groups, append(group, e.head(context)))
			group = []edit{e.tail(context)}
		default:
			group = append(group, e)
		}
	}
	if len(group) > 0 {
		groups = append(groups, group)
	}
	return groups
}

// head and tail return the first and the last n lines of an edit with equal lines.
func (e edit) head(n int) edit {
	n = min(n, e.aEnd-e.a)
	return edit{true, e.a, e.a + n, e.b, e.b + n}
}

func (e edit) tail(n int) edit {
	n = min(n, e.aEnd-e.a)
	return edit{true, e.aEnd - n, e.aEnd, e.bEnd - n, e.bEnd}
}

// edits returns the edits that turn one text into the other. Equal and changed
// lines alternate.
func edits(a, b []string) (all []edit) {
	m := matcher{a, b, indexLines(b)}
	i, j := 0, 0
	change := func(to, bTo int) {
		if i < to || j < bTo {
			all = append(all, edit{false, i, to, j, bTo})
		}
	}
	for _, match := range m.matches(nil, 0, len(a), 0, len(b)) {
		if n := len(all); n > 0 && all[n-1].equal && match.a == i && match.b == j {
			all[n-1].aEnd, all[n-1].bEnd = match.aEnd, match.bEnd
		} else {
			change(match.a, match.b)
			all = append(all, match)
		}
		i, j = match.aEnd, match.bEnd
	}
	change(len(a), len(b))
	return all
}

// manyLines is the number of lines from which on a line that makes up more than a
// hundredth of the text cannot start a match.
const manyLines = 200

// indexLines returns the positions of each line.
func indexLines(text []string) map[string][]int {
	at := make(map[string][]int, len(text))
	for i, line := range text {
		at[line] = append(at[line], i)
	}
	if n := len(text); n >= manyLines {
		for line, places := range at {
			if len(places) > n/100+1 {
				delete(at, line)
			}
		}
	}
	return at
}

// A matcher finds the common lines of two texts.
type matcher struct {
	a, b []string
	at   map[string][]int // positions of lines in b
}

// matches appends the matches within bounds, in order: the longest one, and the
// matches on both sides of it.
func (m *matcher) matches(found []edit, a, aEnd, b, bEnd int) []edit {
	longest := m.longest(a, aEnd, b, bEnd)
	if longest.a == longest.aEnd {
		return found
	}
	if a < longest.a && b < longest.b {
		found = m.matches(found, a, longest.a, b, longest.b)
	}
	found = append(found, longest)
	if longest.aEnd < aEnd && longest.bEnd < bEnd {
		found = m.matches(found, longest.aEnd, aEnd, longest.bEnd, bEnd)
	}
	return found
}

// longest returns the longest match within bounds. Of matches of equal length it
// returns the first in a, and of those the first in b. It is empty if there is
// none.
func (m *matcher) longest(a, aEnd, b, bEnd int) edit {
	best := edit{true, a, a, b, b}
	lengths := map[int]int{} // of the match that ends at that line of b
	for i := a; i < aEnd; i++ {
		next := map[int]int{}
		for _, j := range m.at[m.a[i]] {
			if j < b || j >= bEnd {
				continue
			}
			n := lengths[j-1] + 1
			next[j] = n
			if n > best.aEnd-best.a {
				best = edit{true, i - n + 1, i + 1, j - n + 1, j + 1}
			}
		}
		lengths = next
	}
	for best.a > a && best.b > b && m.a[best.a-1] == m.b[best.b-1] {
		best.a, best.b = best.a-1, best.b-1
	}
	for best.aEnd < aEnd && best.bEnd < bEnd && m.a[best.aEnd] == m.b[best.bEnd] {
		best.aEnd, best.bEnd = best.aEnd+1, best.bEnd+1
	}
	return best
}
