package cel

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// reserved has the reserved words of CEL in sorted order.
var reserved = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
	"namespace", "null", "package", "return", "true", "var", "void", "while",
}

func isReserved(name string) bool {
	_, found := slices.BinarySearch(reserved, name)
	return found
}

// escaper escapes the characters of field names that CEL identifiers cannot have.
var escaper = strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__")

// escape returns the identifier of a field in expressions, or false if expressions
// cannot refer to the field.
func escape(name string) (string, bool) {
	switch {
	case name == "" || '0' <= name[0] && name[0] <= '9':
		return "", false
	case isReserved(name):
		return "__" + name + "__", true
	}
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_-./", c) >= 0) {
			return "", false
		}
	}
	return escaper.Replace(name), true
}

// escapes matches the escape sequences of escape.
var escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`__[^_]+__`) })

// unescape returns the name that escape has turned into name, or false if name has an
// unknown escape sequence. A name without escape sequences is returned as it is.
func unescape(name string) (string, bool) {
	ok := true
	out := escapes().ReplaceAllStringFunc(name, func(s string) string {
		switch word := s[2 : len(s)-2]; {
		case word == "underscores":
			return "__"
		case word == "dot":
			return "."
		case word == "dash":
			return "-"
		case word == "slash":
			return "/"
		case isReserved(word) && len(s) == len(name):
			return word
		}
		ok = false
		return s
	})
	return out, ok
}
