package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/table"
)

// columnsJSON returns the file columns.json. It leaves out the kinds that have
// table.Default's columns.
func columnsJSON(recordings fs.FS) ([]byte, error) {
	const name = release.Default + "-gates"
	var recorded map[string][]table.Column
	if err := readJSON(recordings, name+"/columns.json", &recorded); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	kinds := map[string][]json.RawMessage{}
	for kind, columns := range recorded {
		if slices.Equal(columns, table.Default.Columns()) {
			continue
		}
		for _, c := range columns {
			if key := strings.ToLower(c.Name); (key == "name" || key == "age") && len(c.Description) > 100 {
				if have, ok := texts[key]; ok && have != c.Description {
					return nil, fmt.Errorf("the column %s of %s has a description of its own", c.Name, kind)
				}
				texts[key] = c.Description
				c.Description = "@" + key
			}
			text, err := columnJSON(c)
			if err != nil {
				return nil, err
			}
			kinds[kind] = append(kinds[kind], text)
		}
	}
	var out bytes.Buffer
	head, err := indented(texts)
	if err != nil {
		return nil, err
	}
	list, err := linePerItem(kinds)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&out, "{\n\"generated\": %q,\n\"texts\": %s,\n\"kinds\": %s}\n",
		marker("a recording of kube-apiserver "+name), bytes.TrimSpace(head), list)
	return out.Bytes(), nil
}

// columnJSON encodes a column without the fields that are zero.
func columnJSON(c table.Column) (json.RawMessage, error) {
	var out bytes.Buffer
	err := writeJSON(&out, struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Format      string `json:"format,omitempty"`
		Description string `json:"description,omitempty"`
		Priority    int    `json:"priority,omitempty"`
	}(c))
	return out.Bytes(), err
}
