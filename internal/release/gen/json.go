package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// readJSON decodes a file.
func readJSON(dir fs.FS, name string, into any) error {
	text, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// indented encodes a value over several lines.
func indented(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// linePerItem encodes lists by key, each item on a line.
func linePerItem(lists map[string][]json.RawMessage) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(lists)) {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "\n%q: [", key)
		for j, item := range lists[key] {
			if j > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n  ")
			if err := json.Compact(&out, item); err != nil {
				return nil, err
			}
		}
		out.WriteByte(']')
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// writeJSON appends a value as JSON that keeps <, > and &.
func writeJSON(out *bytes.Buffer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	out.Truncate(out.Len() - 1) // the newline
	return err
}
