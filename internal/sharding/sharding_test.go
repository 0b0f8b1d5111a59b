package sharding_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/sharding"
)

const (
	lower = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
	upper = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
)

func TestMatches(t *testing.T) {
	// The hash of "a" is 0xaf63dc4c8601ec8c, that of "" is 0xcbf29ce484222325.
	for _, tt := range []struct {
		name, selector, uid, namespace string
		want                           bool
	}{
		{"below", lower, "a", "", false},
		{"above", upper, "a", "", true},
		{"one of two", lower + " || " + upper, "a", "", true},
		{"start is included", "shardRange(object.metadata.uid, '0xaf63dc4c8601ec8c', '0xaf63dc4c8601ec8d')", "a", "", true},
		{"end is excluded", "shardRange(object.metadata.uid, '0x0000000000000000', '0xaf63dc4c8601ec8c')", "a", "", false},
		{"namespace", "shardRange(object.metadata.namespace, '0xaf63dc4c8601ec8c', '0xaf63dc4c8601ec8d')", "b", "a", true},
		{"no namespace", "shardRange(object.metadata.namespace, '0xcbf29ce484222325', '0xcbf29ce484222326')", "b", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := sharding.Parse(tt.selector)
			require.NoError(t, err)
			assert.Equal(t, tt.want, s.Matches(tt.uid, tt.namespace))
		})
	}
	assert.True(t, sharding.Selector{}.Matches("a", "b"))
}

func TestString(t *testing.T) {
	s, err := sharding.Parse(" shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')||" + upper)
	require.NoError(t, err)
	assert.False(t, s.Empty())
	assert.Equal(t, lower+" || "+upper, s.String())
}

func TestParseError(t *testing.T) {
	for _, tt := range []struct{ name, selector, want string }{
		{"blank", " ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"},
		{"syntax", "shardRange(", "CEL parse error: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		{"literal", "true", "unexpected expression kind 5; expected shardRange() call or || operator"},
		{"and", lower + " && " + upper, `unsupported function "_&&_"; only shardRange() and || are allowed`},
		{"two arguments", "shardRange(object.metadata.uid, '0x0')", "shardRange() requires exactly 3 arguments, got 2"},
		{"field", "shardRange(object.metadata.name, '0x0', '0x1')", `unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace`},
		{"no field", "shardRange('a', '0x0', '0x1')", "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5"},
		{"number", "shardRange(object.metadata.uid, 0, '0x1')", "hexStart must be a string literal, got int64"},
		{"no literal", "shardRange(object.metadata.uid, a, '0x1')", "hexStart must be a string literal (e.g. '0xff'), got expression kind 3"},
		{"no prefix", "shardRange(object.metadata.uid, '0', '0x1')", `hexStart must have '0x' prefix, got "0"`},
		{"no digits", "shardRange(object.metadata.uid, '0x', '0x1')", "hexStart: hex value is required after '0x'"},
		{"long", "shardRange(object.metadata.uid, '0x100000000000000000', '0x1')", `hexStart: hex value too long (18 chars, max 17): "100000000000000000"`},
		{"not hexadecimal", "shardRange(object.metadata.uid, '0xG', '0x1')", `hexStart: invalid hex character "G" in "0xG"`},
		{"17 digits", "shardRange(object.metadata.uid, '0x10000000000000001', '0x1')", `hexStart: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x10000000000000001"`},
		{"short", "shardRange(object.metadata.uid, '0x0000000000000000', '0xff')", `hexEnd must be a 0x-prefixed 16-digit hex value, got "0xff" (did you mean "0x00000000000000ff"?)`},
		{"empty range", "shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')", "shard range start 0x8000000000000000 must be less than end 0x8000000000000000"},
		{"two fields", lower + " || shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')", `all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := sharding.Parse(tt.selector)
			assert.EqualError(t, err, "invalid shard selector: "+tt.want)
		})
	}
}
