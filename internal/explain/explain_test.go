package explain

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/yaml"
)

type item struct {
	Name  string            `json:"name"`
	Count int               `json:"count"`
	On    bool              `json:"on"`
	Data  []byte            `json:"data"`
	Share float64           `json:"share"`
	Args  []string          `json:"args"`
	Tags  map[string]string `json:"tags"`
	Plain string
}

type list struct {
	Items []item `json:"items"`
}

func TestError(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"items":[]}`, ""},
		{`[1]`, "expected an object, not a list"},
		{`"a"`, "expected an object, not a string"},
		{`{"items":{}}`, "items: expected a list, not an object"},
		{`{"items":[{},{"name":3}]}`, "items[1].name: expected a string, not a number"},
		{`{"items":[{"count":"3"}]}`, "items[0].count: expected a whole number, not a string"},
		{`{"items":[{"count":1.5}]}`, "items[0].count: expected a whole number, not 1.5"},
		{`{"items":[{"on":"yes"}]}`, "items[0].on: expected true or false, not a string"},
		{`{"items":[{"share":true}]}`, "items[0].share: expected a number, not a boolean"},
		{`{"items":[{"data":3}]}`, "items[0].data: expected a string in base64, not a number"},
		{`{"items":[{"args":["a",{}]}]}`, "items[0].args[1]: expected a string, not an object"},
		{`{"items":[{"tags":{"a.b":[]}}]}`, "items[0].tags.a.b: expected a string, not a list"},
		{`{"items":[{"nmae":"a"}]}`, `unknown field "nmae"; did you mean name?`},
		{`{"zzzzz":1}`, `unknown field "zzzzz"`},
		{"{\n  \"items\": [,]\n}", "line 2, column 13: invalid character ',' looking for beginning of value"},
	} {
		var out list
		d := json.NewDecoder(bytes.NewReader([]byte(tt.text)))
		d.DisallowUnknownFields()
		err := Error([]byte(tt.text), &out, d.Decode(&out))
		if tt.want == "" {
			assert.NoError(t, err, tt.text)
			continue
		}
		assert.EqualError(t, err, tt.want, tt.text)
	}
}

// The JSON that package yaml decodes is not known, so paths have no indexes.
func TestErrorOfYAML(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"items: [{Plain: []}]", "items.plain: expected a string, not a list"},
		{"items: [1", "yaml: line 1: did not find expected ',' or ']'"},
		{"nope: 1", `unknown field "nope"`},
	} {
		var out list
		assert.EqualError(t, Error(nil, &out, yaml.UnmarshalStrict([]byte(tt.text), &out)), tt.want)
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string", "metadata.labels: expected an object, not a list"},
		{"Pod: json: cannot unmarshal number into Go value of type v1.Pod", "Pod: expected an object, not a number"},
		{"json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32", "spec.priority: expected a whole number, not a string"},
		{"json: cannot unmarshal number 1.5 into Go struct field A.b of type []v1.C", "b: expected a list, not 1.5"},
		{"another text", "another text"},
	} {
		assert.Equal(t, tt.want, Text(tt.text))
	}
}
