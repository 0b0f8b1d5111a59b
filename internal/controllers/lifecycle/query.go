package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// A query is an expression of a Stage, in a part of the language of jq: paths such as
// .metadata.labels["a"], .spec.containers[0].name and .status.conditions.[], and filters
// such as select(.type == "Ready"), joined by |.
type query struct {
	source string
	steps  []step
}

// A step replaces each of the values that the steps before it produce.
type step func(v any) []any

// parseQuery fails for an expression that is not in the part of jq that queries have.
func parseQuery(source string) (*query, error) {
	q := &query{source: source}
	for _, part := range splitPipe(source) {
		part = strings.TrimSpace(part)
		if inner, ok := strings.CutPrefix(part, "select("); ok && strings.HasSuffix(inner, ")") {
			filter, err := parseSelect(strings.TrimSuffix(inner, ")"))
			if err != nil {
				return nil, q.fail(err)
			}
			q.steps = append(q.steps, filter)
			continue
		}
		steps, err := parsePath(part)
		if err != nil {
			return nil, q.fail(err)
		}
		q.steps = append(q.steps, steps...)
	}
	return q, nil
}

func (q *query) fail(err error) error {
	return fmt.Errorf("expression %q: %w: supported are paths, [], [N], [\"KEY\"], and select(PATH == \"VALUE\")", q.source, err)
}

// run returns the values that are not null.
func (q *query) run(obj object.View) []any {
	values := []any{obj.Shared()}
	for _, s := range q.steps {
		var next []any
		for _, v := range values {
			next = append(next, s(v)...)
		}
		values = next
	}
	return slices.DeleteFunc(values, func(v any) bool { return v == nil })
}

// splitPipe splits at each | outside of quotes and parentheses.
func splitPipe(s string) (parts []string) {
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// parseSelect parses PATH == LITERAL, PATH != LITERAL, or PATH.
func parseSelect(s string) (step, error) {
	for _, op := range []string{"==", "!="} {
		left, right, ok := strings.Cut(s, op)
		if !ok {
			continue
		}
		path, err := parsePath(strings.TrimSpace(left))
		if err != nil {
			return nil, err
		}
		want, err := parseLiteral(strings.TrimSpace(right))
		if err != nil {
			return nil, err
		}
		return func(v any) []any {
			for _, got := range runSteps(path, v) {
				if equal := object.Equal(got, want); equal == (op == "==") {
					return []any{v}
				}
			}
			return nil
		}, nil
	}
	path, err := parsePath(strings.TrimSpace(s))
	if err != nil {
		return nil, err
	}
	return func(v any) []any {
		for _, got := range runSteps(path, v) {
			if got != nil && got != false {
				return []any{v}
			}
		}
		return nil
	}, nil
}

func runSteps(steps []step, v any) []any {
	values := []any{v}
	for _, s := range steps {
		var next []any
		for _, v := range values {
			next = append(next, s(v)...)
		}
		values = next
	}
	return values
}

func parseLiteral(s string) (any, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	if text, err := strconv.Unquote(s); err == nil && s[0] == '"' {
		return text, nil
	}
	return nil, fmt.Errorf("%s is not a string, a number, true, false or null", s)
}

// parsePath parses a path such as .a.b[0].["c"].[].
func parsePath(s string) (steps []step, err error) {
	if s == "" || s[0] != '.' {
		return nil, fmt.Errorf("%q is not a path", s)
	}
	for s != "" {
		if s[0] == '.' {
			s = s[1:]
		}
		switch {
		case s == "":
		case s[0] == '[':
			end := strings.IndexByte(s, ']')
			if strings.HasPrefix(s, `["`) {
				if end = strings.Index(s, `"]`) + 1; end == 0 {
					end = -1
				}
			}
			if end < 0 {
				return nil, fmt.Errorf("%q has no ]", s)
			}
			one, err := parseIndex(s[1:end])
			if err != nil {
				return nil, err
			}
			steps = append(steps, one)
			s = strings.TrimPrefix(s[end+1:], "?")
		case s[0] == '"':
			end := strings.IndexByte(s[1:], '"')
			if end < 0 {
				return nil, fmt.Errorf("%q has no closing quote", s)
			}
			steps = append(steps, member(s[1:end+1]))
			s = strings.TrimPrefix(s[end+2:], "?")
		default:
			n := 0
			for n < len(s) && (s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z') {
				n++
			}
			if n == 0 {
				return nil, fmt.Errorf("unexpected %q", s)
			}
			steps = append(steps, member(s[:n]))
			s = strings.TrimPrefix(s[n:], "?")
		}
		if s != "" && s[0] != '.' && s[0] != '[' {
			return nil, fmt.Errorf("unexpected %q", s)
		}
	}
	return steps, nil
}

func parseIndex(s string) (step, error) {
	if s == "" {
		return func(v any) []any {
			switch v := v.(type) {
			case []any:
				return v
			case map[string]any:
				out := make([]any, 0, len(v))
				for _, name := range sortedKeys(v) {
					out = append(out, v[name])
				}
				return out
			}
			return nil
		}, nil
	}
	if s[0] == '"' {
		name, err := strconv.Unquote(s)
		if err != nil {
			return nil, fmt.Errorf("%s is not a string", s)
		}
		return member(name), nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a number nor a string", s)
	}
	return func(v any) []any {
		list, _ := v.([]any)
		i := n
		if i < 0 {
			i += len(list)
		}
		if i < 0 || i >= len(list) {
			return nil
		}
		return []any{list[i]}
	}, nil
}

func member(name string) step {
	return func(v any) []any {
		m, _ := v.(map[string]any)
		return []any{m[name]}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
