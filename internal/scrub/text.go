package scrub

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// A pattern finds secrets in a text.
type pattern struct {
	// words are parts of the text, in lower case, one of which the pattern needs.
	words []string
	// expression matches what is before a secret, as its first group, and the secret, as its
	// last one.
	expression string
	context    []string // more parts, all of which it needs
	unescapes  bool     // the secret is escaped as in a query
	encoded    bool     // the secret may be base64, which the placeholder then is too
}

// secretName matches the names of query parameters with secrets.
const secretName = `(?:token|passw|secret|authorization|credential|signature|api[-_]?key|bearer)`

// patterns are the secrets in texts, in the order in which they are replaced.
var patterns = []pattern{
	{ // a private key in PEM, which may be cut off
		words:      []string{"private key-----"},
		expression: `()(-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?)`,
	},
	{ // a JSON Web Token: three parts, or five if it is encrypted
		words:      []string{"eyj"},
		expression: `()(eyJ[\w-]{8,}\.[\w-]*\.[\w-]*(?:\.[\w-]+\.[\w-]+)?)`,
	},
	{ // Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l
		words:      []string{"authorization"},
		expression: `(?i)(authorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token|negotiate|digest|apikey)\s+)([^\s"',;\\]+)`,
	},
	{ // Bearer 7d0ad9e14ab04c1f
		words:      []string{"bearer ", "basic "},
		expression: `(?i)\b((?:bearer|basic)\s+)([\w.~+/=-]*\d[\w.~+/=-]{12,}|[\w.~+/=-]{12,}\d[\w.~+/=-]*)`,
	},
	{ // Cookie: session=7d0ad9
		words:      []string{"cookie"},
		expression: `(?i)\b((?:set-)?cookie\\?["']?\s*:\s*\\?["']?)([^\r\n"'\\]+)`,
	},
	{ // https://user:password@host
		words:      []string{"://"},
		expression: `([a-zA-Z][\w+.-]*://[^/\s:@"'<>?#]*:)([^/\s@"'<>?#]+)@`,
	},
	{ // https://token@host
		words:      []string{"http://", "https://"},
		expression: `(?i)(https?://)([^/\s:@"'<>?#]+)@`,
	},
	{ // /path?token=7d0ad9
		words:      []string{"="},
		expression: `(?i)((?:^|[?&"'(\s])[\w.%\[\]]*(?:[\w.%\[\]]+-)*` + secretName + `[\w.%\[\]-]*=)([^&\s"'<>#\\)]+)`,
		unescapes:  true,
	},
	{ // the user of a kubeconfig
		words:      []string{"token", "password", "client-key-data", "client-secret"},
		context:    []string{"users", "clusters"},
		encoded:    true,
		expression: `((?:^|[\s{,"'-])(?:token|password|client-key-data|client-secret|id-token|refresh-token|access-token)\\?["']?\s*:\s*\\?["']?)([^\s"',}\\]+)`,
	},
}

var expressions = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, p := range patterns {
		all = append(all, regexp.MustCompile(p.expression))
	}
	return all
})

// minText is the length of the shortest text that a pattern matches: a://:b@.
const minText = 7

// Text returns a text without what looks like a secret in any text.
func (s *Scrubber) Text(text string) string {
	if s == nil || !mayHaveSecret(text) {
		return text
	}
	lower := strings.ToLower(text)
	for i := range patterns {
		if p := &patterns[i]; p.mayMatch(lower) {
			text = s.replaceMatches(text, expressions()[i], p)
		}
	}
	return text
}

// mayHaveSecret reports whether a pattern may match a text. It is quick for most texts.
func mayHaveSecret(text string) bool {
	if len(text) < minText || !strings.ContainsAny(text, " :=") && !strings.Contains(text, "eyJ") {
		return false // each pattern has one of these
	}
	lower := strings.ToLower(text)
	for i := range patterns {
		if patterns[i].mayMatch(lower) {
			return true
		}
	}
	return false
}

// mayMatch reports whether a text, in lower case, has the words that the pattern needs.
func (p *pattern) mayMatch(lower string) bool {
	for _, word := range p.context {
		if !strings.Contains(lower, word) {
			return false
		}
	}
	for _, word := range p.words {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// replaceMatches replaces the last group of each match of the expression of a pattern.
func (s *Scrubber) replaceMatches(text string, expression *regexp.Regexp, p *pattern) string {
	var b strings.Builder
	end := 0
	for _, m := range expression.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[4], m[5]
		secret := text[from:to]
		if plain, err := url.QueryUnescape(secret); p.unescapes && err == nil {
			secret = plain
		}
		b.WriteString(text[end:from])
		b.WriteString(s.value(secret, p.encoded))
		end = to
	}
	if end == 0 {
		return text
	}
	b.WriteString(text[end:])
	return b.String()
}

// Parameter returns a parameter of a query, such as token=7d0ad9, without a secret.
func (s *Scrubber) Parameter(pair string) string {
	if s == nil {
		return pair
	}
	key, value, _ := strings.Cut(pair, "=")
	if name, err := url.QueryUnescape(key); err == nil && !secretParameter().MatchString(name) || value == "" {
		return s.Text(pair)
	}
	if plain, err := url.QueryUnescape(value); err == nil {
		value = plain
	}
	return key + "=" + url.QueryEscape(s.value(value, false))
}

var secretParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + secretName) })

// URI returns a request URI without secrets: in its path, in its user and in its query.
func (s *Scrubber) URI(uri string) string {
	if s == nil {
		return uri
	}
	path, query, ok := strings.Cut(uri, "?")
	path = s.Text(path)
	if !ok {
		return path
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		pairs[i] = s.Parameter(pair)
	}
	return path + "?" + strings.Join(pairs, "&")
}
