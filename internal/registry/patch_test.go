package registry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodePlainJSON(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		plain      bool
	}{
		{"object", `{"a":{"b":[1,-2,true,null,"c: d # e"]},"<<":{"x":1}}` + "\n", true},
		{"spaces", `{ "a" : 1 }`, true},
		{"fraction", `{"a":1.0}`, false},
		{"large number", `{"a":9223372036854775808}`, false},
		{"escapes", `{"a":"\u0041\u003c\n\r\t\b\f\\/\\ud83d","\"":1}`, true},
		{"escape of a slash", `{"a":"\/"}`, false},
		{"escape of a surrogate", `{"a":"\uD83D\ude00"}`, false},
		{"long name", `{"` + strings.Repeat("a", 1000) + `":1}`, false},
		{"long name in the document", `{"` + strings.Repeat(`\n`, 520) + `":1}`, false},
		{"twice", `{"a":1,"a":2}`, false},
		{"lines", "{\n\"a\":1}", false},
		{"tab", "{\t\"a\":1}", false},
		{"beyond ASCII", `{"a":"ä"}`, false},
		{"list", `[1]`, false},
		{"YAML", `{a: 1}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ok := decodePlainJSON([]byte(tt.body))
			assert.Equal(t, tt.plain, ok)
		})
	}
}

// FuzzDecodePlainJSON checks that JSON is read as YAML reads it.
func FuzzDecodePlainJSON(f *testing.F) {
	for _, body := range []string{
		`{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","b":"yes"},"n":[-0,1,true,null,{"":"x: y"}]}`,
		`{"a":"#","b":"- c","<<":{"d":1},"=":"=","e":[],"f":{}} `,
		`{"a":1}{"b":2}`,
		`{"a":"#!/bin/sh\necho \"$A\" \u0026\u0026 exit\t\\ # b\r\n","\b\f":"\u0000\ufffe"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := decodePlainJSON(body)
		if !ok {
			return
		}
		want, err := decodeYAML(body)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
}
