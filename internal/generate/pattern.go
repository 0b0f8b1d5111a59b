package generate

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// maxRepeat is how often a part of a pattern is repeated at most where the pattern has no limit.
const maxRepeat = 8

// matching returns a text that a regular expression matches, "" if it is none. Assertions such as \b are
// left out, so that a text may not match.
func matching(c *Choices, pattern string) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	appendMatch(&b, c, parsed)
	return b.String()
}

func appendMatch(b *strings.Builder, c *Choices, re *syntax.Regexp) {
	repeat := func(least, most int) {
		if most < 0 {
			most = max(least, maxRepeat)
		}
		for range least + c.of(most-least+1) {
			appendMatch(b, c, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(ofClass(c, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(pick(c, []rune("a0-é")))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			appendMatch(b, c, sub)
		}
	case syntax.OpAlternate:
		appendMatch(b, c, pick(c, re.Sub))
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	}
}

// ofClass returns a character of a class, which has pairs of the first and the last of ranges: one that
// can be printed in ASCII if there is one.
func ofClass(c *Choices, ranges []rune) rune {
	var printable []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], unicode.MaxASCII-1); r++ {
			printable = append(printable, r)
		}
	}
	switch {
	case len(printable) > 0:
		return pick(c, printable)
	case len(ranges) > 0:
		return ranges[0]
	}
	return 'a'
}
