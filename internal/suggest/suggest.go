// Package suggest finds the names that somebody may have meant by a name that does not exist.
package suggest

import (
	"slices"
	"strings"
	"unicode"
)

// most is the greatest number of names in a suggestion.
const most = 3

// A Name is a name that exists.
type Name struct {
	Name    string
	Aliases []string // other words for it, which are not suggested
}

// DidYouMean returns the end of an error about a name that does not exist: "; did you mean
// a or b?", and "" if no known name is similar.
func DidYouMean(name string, known []string) string {
	all := make([]Name, len(known))
	for i, k := range known {
		all[i].Name = k
	}
	return DidYouMeanAny(name, all)
}

// DidYouMeanAny is DidYouMean for names with aliases.
func DidYouMeanAny(name string, known []Name) string {
	similar := Similar(name, known)
	if len(similar) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(similar, " or ") + "?"
}

// Similar returns the names that a name is most similar to, at most three, in the order of
// known.
func Similar(name string, known []Name) (names []string) {
	least := unlike
	for _, k := range known {
		rank := rankOf(name, k.Name)
		for _, alias := range k.Aliases {
			rank = min(rank, rankOf(name, alias))
		}
		if rank < least {
			names, least = nil, rank
		}
		if rank == least && rank < unlike && len(names) < most && !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// How similar a name is to a known one: the most similar first. A misspelled name is
// misspelled plus the number of its mistakes.
const (
	equalButCase = iota
	beginning    // of the known name
	misspelled
	initials = 100 + iota // the first letters of the words of the known name, or of the first of them
	beginningOfWord
	abbreviation // letters of the first word, in its order, beginning with its first
	unlike
)

// rankOf returns how similar a name is to a known one.
func rankOf(name, known string) int {
	words := wordsOf(known)
	name, known = strings.ToLower(name), strings.ToLower(known)
	mistakes := Distance(name, known)
	switch {
	case name == known:
		return equalButCase
	case len(name) < 2:
		return unlike
	case strings.HasPrefix(known, name):
		return beginning
	case mistakes <= max(1, len(name)/3) && mistakes*2 < len(name):
		return misspelled + mistakes
	case strings.HasPrefix(initialsOf(words), name):
		return initials
	case slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, name) }):
		return beginningOfWord
	case len(words) > 0 && abbreviates(name, words[0]):
		return abbreviation
	}
	return unlike
}

// wordsOf splits a name such as pod-garbage-collector or PodSecurity into words in lower case.
func wordsOf(name string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	var last rune
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && !unicode.IsUpper(last) {
			end()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = append(word, r)
		}
		last = r
	}
	end()
	return words
}

// initialsOf returns the first letters of words.
func initialsOf(words []string) string {
	var b strings.Builder
	for _, word := range words {
		for _, r := range word {
			b.WriteRune(r)
			break
		}
	}
	return b.String()
}

// abbreviates reports whether a short name is made of the first letter of a word and of
// later ones, as rs is of replicaset.
func abbreviates(name, word string) bool {
	if len(name) > 4 || word == "" || name[0] != word[0] {
		return false
	}
	for _, r := range name {
		_, after, ok := strings.Cut(word, string(r))
		if !ok {
			return false
		}
		word = after
	}
	return true
}

// Distance returns the number of bytes to insert, delete or replace, and of neighbours to
// exchange, to make b of a.
func Distance(a, b string) int {
	rows := make([][]int, len(a)+1) // by the lengths of prefixes of a and b
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}
