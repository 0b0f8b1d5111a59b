// Package sharding parses and matches shard selectors: the parameter shardSelector of a list
// or a watch, which the feature gate ShardedListAndWatch turns on. A selector is one or more
// ranges of the hash of a field, which is the UID or the namespace of the object:
//
//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
//	shardRange(object.metadata.uid, '0x...', '0x...') || shardRange(object.metadata.uid, '0x...', '0x...')
//
// See https://kep.k8s.io/5866.
package sharding

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
)

// The fields that a selector can name.
const (
	uid       = "object.metadata.uid"
	namespace = "object.metadata.namespace"
)

// A Selector is a set of ranges of one field. The zero value selects everything. It is
// immutable.
type Selector struct {
	field  string
	ranges []hashRange
}

// A hashRange is a range of hashes: hexadecimal numbers that begin with 0x, end excluded.
type hashRange struct{ start, end string }

// Empty reports whether the selector selects everything.
func (s Selector) Empty() bool { return len(s.ranges) == 0 }

// String returns the canonical form of the selector.
func (s Selector) String() string {
	parts := make([]string, len(s.ranges))
	for i, r := range s.ranges {
		parts[i] = fmt.Sprintf("shardRange(%s, '%s', '%s')", s.field, r.start, r.end)
	}
	return strings.Join(parts, " || ")
}

// Matches reports whether the selector selects an object with a UID in a namespace.
func (s Selector) Matches(objectUID, objectNamespace string) bool {
	return s.Empty() || s.inRanges(objectUID, objectNamespace)
}

// inRanges is Matches of a selector that is not empty. It is a function of its own, so that
// Matches is inlined.
func (s Selector) inRanges(objectUID, objectNamespace string) bool {
	value := objectUID
	if s.field == namespace {
		value = objectNamespace
	}
	h := fnv.New64a()
	h.Write([]byte(value))
	hash := fmt.Sprintf("0x%016x", h.Sum64())
	for _, r := range s.ranges {
		if !less(hash, r.start) && less(hash, r.end) {
			return true
		}
	}
	return false
}

// less compares hexadecimal numbers without superfluous zeros.
func less(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// Parse parses a selector, which is an expression of CEL. The errors are kube-apiserver's.
func Parse(text string) (Selector, error) {
	s, err := parse(strings.TrimSpace(text))
	if err != nil {
		return Selector{}, fmt.Errorf("invalid shard selector: %w", err)
	}
	return s, nil
}

func parse(text string) (s Selector, err error) {
	if text == "" {
		return s, errors.New("empty shard selector is not allowed; omit the parameter for unfiltered lists")
	}
	p, err := parser.NewParser(parser.Macros())
	if err != nil {
		return s, fmt.Errorf("failed to create CEL parser: %w", err)
	}
	parsed, errs := p.Parse(common.NewTextSource(text))
	if errs != nil && len(errs.GetErrors()) > 0 {
		return s, fmt.Errorf("CEL parse error: %s", errs.GetErrors()[0].Message)
	}
	var fields []string
	if err := s.add(parsed.Expr(), &fields); err != nil {
		return s, err
	}
	s.field = fields[0]
	for _, f := range fields {
		if f != s.field {
			return s, fmt.Errorf("all shard ranges must use the same field, got %q and %q", s.field, f)
		}
	}
	return s, nil
}

// add adds the ranges of an expression to the selector, and the field of each to fields.
func (s *Selector) add(e ast.Expr, fields *[]string) error {
	if e.Kind() != ast.CallKind {
		return fmt.Errorf("unexpected expression kind %v; expected shardRange() call or || operator", e.Kind())
	}
	call := e.AsCall()
	switch name := call.FunctionName(); name {
	case operators.LogicalOr:
		for _, arg := range call.Args() {
			if err := s.add(arg, fields); err != nil {
				return err
			}
		}
		return nil
	case "shardRange":
		field, r, err := parseRange(call.Args())
		if err != nil {
			return err
		}
		s.ranges = append(s.ranges, r)
		*fields = append(*fields, field)
		return nil
	default:
		return fmt.Errorf("unsupported function %q; only shardRange() and || are allowed", name)
	}
}

// parseRange reads the arguments of shardRange.
func parseRange(args []ast.Expr) (field string, r hashRange, err error) {
	if len(args) != 3 {
		return "", r, fmt.Errorf("shardRange() requires exactly 3 arguments, got %d", len(args))
	}
	if field, err = fieldPath(args[0]); err != nil {
		return "", r, fmt.Errorf("shardRange() first argument: %w", err)
	}
	if field != uid && field != namespace {
		return "", r, fmt.Errorf("unsupported field path %q; supported: object.metadata.uid, object.metadata.namespace", field)
	}
	if r.start, err = hexLiteral(args[1], "hexStart"); err != nil {
		return "", r, err
	}
	if r.end, err = hexLiteral(args[2], "hexEnd"); err != nil {
		return "", r, err
	}
	if !less(r.start, r.end) {
		return "", r, fmt.Errorf("shard range start %s must be less than end %s", r.start, r.end)
	}
	return field, r, nil
}

// fieldPath returns the names of a selection, such as object.metadata.uid.
func fieldPath(e ast.Expr) (string, error) {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent(), nil
	case ast.SelectKind:
		of, err := fieldPath(e.AsSelect().Operand())
		return of + "." + e.AsSelect().FieldName(), err
	}
	return "", fmt.Errorf("expected field path (e.g. object.metadata.uid), got expression kind %v", e.Kind())
}

// maxHash is the end of a range that includes the greatest hash.
const maxHash = "0x10000000000000000"

// hexLiteral returns the hash that an argument is. Other than maxHash it has 16 digits.
func hexLiteral(e ast.Expr, name string) (string, error) {
	if e.Kind() != ast.LiteralKind {
		return "", fmt.Errorf("%s must be a string literal (e.g. '0xff'), got expression kind %v", name, e.Kind())
	}
	s, ok := e.AsLiteral().Value().(string)
	if !ok {
		return "", fmt.Errorf("%s must be a string literal, got %T", name, e.AsLiteral().Value())
	}
	digits, ok := strings.CutPrefix(s, "0x")
	switch {
	case !ok:
		return "", fmt.Errorf("%s must have '0x' prefix, got %q", name, s)
	case digits == "":
		return "", fmt.Errorf("%s: hex value is required after '0x'", name)
	case len(digits) > 17:
		return "", fmt.Errorf("%s: hex value too long (%d chars, max 17): %q", name, len(digits), digits)
	}
	for _, c := range digits {
		if !strings.ContainsRune("0123456789abcdef", c) {
			return "", fmt.Errorf("%s: invalid hex character %q in %q", name, string(c), s)
		}
	}
	switch {
	case s == maxHash || len(digits) == 16:
		return s, nil
	case len(digits) == 17:
		return "", fmt.Errorf("%s: 17-digit hex value must be '%s' (2^64), got %q", name, maxHash, s)
	}
	padded := "0x" + strings.Repeat("0", 16-len(digits)) + digits
	return "", fmt.Errorf("%s must be a 0x-prefixed 16-digit hex value, got %q (did you mean %q?)", name, s, padded)
}
