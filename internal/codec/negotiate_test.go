package codec_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/codec"
)

// get returns a GET request with an Accept header.
func get(accept string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/configmaps", nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return r
}

// The offers and the errors of a server without CBOR.
const (
	anyType = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
	routed  = "406: Not Acceptable\n\nAvailable representations: "
	handled = "only the following media types are accepted: "
)

var (
	one        = codec.Offer{}
	list       = codec.Offer{List: true}
	custom     = codec.Offer{Custom: true}
	customList = codec.Offer{Custom: true, List: true}
	withCBOR   = codec.Offer{List: true, CBOR: true}
)

func TestNegotiate(t *testing.T) {
	const (
		table     = ";as=Table;g=meta.k8s.io;v=v1"
		metadata  = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
		jsonType  = "application/json"
		yamlType  = "application/yaml"
		protoType = "application/vnd.kubernetes.protobuf"
	)
	for name, row := range map[string]struct {
		offer  codec.Offer
		accept string
		want   codec.Response
		err    string
	}{
		"none":                         {offer: one},
		"all":                          {offer: one, accept: "*/*"},
		"yaml":                         {offer: one, accept: yamlType, want: codec.Response{Format: codec.YAML}},
		"first of equals":              {offer: one, accept: yamlType + ", " + jsonType, want: codec.Response{Format: codec.YAML}},
		"first known":                  {offer: one, accept: "text/html, " + yamlType, want: codec.Response{Format: codec.YAML}},
		"best quality":                 {offer: one, accept: jsonType + ";q=0.5, " + yamlType + ";q=0.9", want: codec.Response{Format: codec.YAML}},
		"wildcard of better quality":   {offer: one, accept: yamlType + ";q=0.1, */*;q=0.8"},
		"quality of zero":              {offer: one, accept: yamlType + ";q=0", want: codec.Response{Format: codec.YAML}},
		"protobuf":                     {offer: one, accept: protoType + "," + jsonType, want: codec.Response{Format: codec.Protobuf}},
		"subtype wildcard":             {offer: one, accept: "application/*", err: routed + anyType},
		"upper case":                   {offer: one, accept: "APPLICATION/JSON; charset=utf-8", err: routed + anyType},
		"unknown":                      {offer: one, accept: "text/html", err: routed + anyType},
		"unknown to a list":            {offer: list, accept: "garbage", err: routed + anyType + ", " + streams},
		"unknown to cbor":              {offer: codec.Offer{CBOR: true}, accept: "text/html", err: routed + anyType + ", application/cbor"},
		"cbor":                         {offer: withCBOR, accept: "application/cbor", want: codec.Response{Format: codec.CBOR}},
		"cbor without the gate":        {offer: list, accept: "application/cbor", err: routed + anyType + ", " + streams},
		"cbor-seq":                     {offer: withCBOR, accept: "application/cbor-seq", err: handled + anyType + ", application/cbor"},
		"table":                        {offer: list, accept: jsonType + table, want: codec.Response{View: codec.Table, Version: "v1"}},
		"table in yaml":                {offer: list, accept: yamlType + table, want: codec.Response{Format: codec.YAML, View: codec.Table, Version: "v1"}},
		"table in protobuf":            {offer: list, accept: protoType + table, err: handled + anyType},
		"table or else":                {offer: list, accept: protoType + table + "," + jsonType, want: codec.Response{}},
		"metadata in protobuf":         {offer: one, accept: protoType + metadata, want: codec.Response{Format: codec.Protobuf, View: codec.PartialMetadata, Version: "v1"}},
		"metadata of v1beta1":          {offer: list, accept: jsonType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1", want: codec.Response{View: codec.PartialMetadataList, Version: "v1beta1"}},
		"table of another version":     {offer: list, accept: jsonType + ";as=Table;g=meta.k8s.io;v=v9", err: handled + anyType},
		"table of another group":       {offer: list, accept: jsonType + ";as=Table;g=wrong.k8s.io;v=v1", err: handled + anyType},
		"another kind":                 {offer: list, accept: jsonType + ";as=Nonsense;g=meta.k8s.io;v=v1", err: handled + anyType},
		"another kind or else":         {offer: list, accept: jsonType + ";as=Nonsense;g=meta.k8s.io;v=v1," + jsonType},
		"kind alone":                   {offer: list, accept: jsonType + ";as=PartialObjectMetadata", err: handled + anyType},
		"stream of a list":             {offer: list, accept: jsonType + ";stream=watch"},
		"another stream":               {offer: list, accept: jsonType + ";stream=other", err: handled + anyType},
		"server version":               {offer: list, accept: jsonType + ";sv=v1"},
		"another server version":       {offer: list, accept: jsonType + ";sv=v2", err: handled + anyType},
		"pretty":                       {offer: one, accept: jsonType + ";pretty=1", want: codec.Response{Pretty: true}},
		"pretty yaml":                  {offer: one, accept: yamlType + ";pretty=1", want: codec.Response{Format: codec.YAML}},
		"custom":                       {offer: custom, accept: "application/*"},
		"custom in protobuf":           {offer: custom, accept: protoType, err: handled + anyType},
		"custom in protobuf or json":   {offer: custom, accept: protoType + "," + jsonType},
		"custom metadata in protobuf":  {offer: custom, accept: protoType + metadata, want: codec.Response{Format: codec.Protobuf, View: codec.PartialMetadata, Version: "v1"}},
		"custom meets no route":        {offer: customList, accept: "text/html", err: handled + anyType},
		"specific before the wildcard": {offer: one, accept: "*/*, " + yamlType, want: codec.Response{Format: codec.YAML}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := row.offer.Negotiate(get(row.accept))
			if row.err != "" {
				assert.IsType(t, &codec.NotAcceptableError{}, err)
				assert.EqualError(t, err, row.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestNegotiateWatch(t *testing.T) {
	for name, row := range map[string]struct {
		offer  codec.Offer
		accept string
		want   string // Content-Type
		err    string
	}{
		"none":                 {offer: list, want: "application/json"},
		"json":                 {offer: list, accept: "application/json;stream=watch", want: "application/json"},
		"protobuf":             {offer: list, accept: "application/vnd.kubernetes.protobuf", want: "application/vnd.kubernetes.protobuf;stream=watch"},
		"cbor":                 {offer: withCBOR, accept: "application/cbor", want: "application/cbor-seq"},
		"yaml":                 {offer: list, accept: "application/yaml", err: handled + streams},
		"yaml with cbor":       {offer: withCBOR, accept: "application/yaml", err: handled + streams + ", application/cbor-seq"},
		"yaml first":           {offer: list, accept: "application/yaml,application/json", err: handled + streams},
		"yaml that streams":    {offer: list, accept: "application/yaml;stream=watch,application/json", want: "application/json"},
		"unknown":              {offer: list, accept: "text/html", err: routed + anyType + ", " + streams},
		"custom in protobuf":   {offer: customList, accept: "application/vnd.kubernetes.protobuf;stream=watch", err: handled + anyType},
		"never pretty":         {offer: list, accept: "application/json;pretty=1", want: "application/json"},
		"custom, subtype star": {offer: customList, accept: "application/*", want: "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := row.offer.Negotiate(get(row.accept))
			if err == nil {
				got, err = row.offer.Stream(got)
			}
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, row.want, got.ContentType())
			assert.True(t, got.Stream)
			assert.False(t, got.Pretty)
		})
	}
}

func TestNegotiateError(t *testing.T) {
	for name, row := range map[string]struct {
		offer  codec.Offer
		accept string
		want   codec.Response
	}{
		"none":                     {offer: one},
		"yaml":                     {offer: one, accept: "application/yaml", want: codec.Response{Format: codec.YAML}},
		"protobuf for custom":      {offer: custom, accept: "application/vnd.kubernetes.protobuf", want: codec.Response{Format: codec.Protobuf}},
		"unknown":                  {offer: one, accept: "text/html", want: codec.Response{Pretty: true}},
		"a table alone":            {offer: one, accept: "application/json;as=Table;g=meta.k8s.io;v=v1", want: codec.Response{Pretty: true}},
		"a table or else":          {offer: one, accept: "application/json;as=Table;g=meta.k8s.io;v=v1,application/json"},
		"server version":           {offer: one, accept: "application/json;sv=v1", want: codec.Response{Pretty: true}},
		"stream":                   {offer: list, accept: "application/json;stream=watch"},
		"subtype star needs route": {offer: one, accept: "application/*"},
	} {
		t.Run(name, func(t *testing.T) {
			got, accepted := row.offer.NegotiateError(get(row.accept))
			assert.Equal(t, row.want, got)
			assert.Equal(t, !row.want.Pretty, accepted)
		})
	}
}

func TestPretty(t *testing.T) {
	for name, row := range map[string]struct {
		query, agent string
		want         bool
	}{
		"program":        {agent: "kubectl/v1.36.3", want: false},
		"curl":           {agent: "curl/8.5.0", want: true},
		"wget":           {agent: "Wget/1.21", want: true},
		"browser":        {agent: "Mozilla/5.0 (X11)", want: true},
		"asked for":      {query: "pretty=true", want: true},
		"asked for as 1": {query: "pretty=1", want: true},
		"not wanted":     {query: "pretty=false", agent: "curl/8.5.0", want: false},
		"neither":        {query: "pretty=perhaps", agent: "curl/8.5.0", want: false},
		"no value":       {query: "pretty=", agent: "curl/8.5.0", want: true},
		"other word":     {query: "name=pretty", agent: "curl/8.5.0", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := get("")
			r.URL.RawQuery = row.query
			r.Header.Set("User-Agent", row.agent)
			got, err := one.Negotiate(r)
			assert.NoError(t, err)
			assert.Equal(t, row.want, got.Pretty)
			failed, _ := one.NegotiateError(r)
			assert.Equal(t, row.want, failed.Pretty)
		})
	}
}

func TestResponseAppend(t *testing.T) {
	doc := []byte("{\"kind\":\"Status\",\"code\":404}\n")
	assert.Equal(t, string(doc), string(codec.Response{}.Append(nil, doc, nil)))
	assert.Equal(t, "{\n  \"kind\": \"Status\",\n  \"code\": 404\n}", string(codec.Response{Pretty: true}.Append(nil, doc, nil)))
	assert.Equal(t, "code: 404\nkind: Status\n", string(codec.Response{Format: codec.YAML}.Append(nil, doc, nil)))
}

func TestBody(t *testing.T) {
	const unknown = "the body of the request was in an unknown format - accepted media types include: "
	for name, row := range map[string]struct {
		offer       codec.Offer
		contentType string
		want        codec.Format
		err         string
	}{
		"none":                  {offer: one},
		"json":                  {offer: one, contentType: "application/json"},
		"parameters":            {offer: one, contentType: "application/json; charset=latin1; x=w"},
		"semicolon at the end":  {offer: one, contentType: "application/json;"},
		"upper case":            {offer: one, contentType: "Application/JSON"},
		"yaml":                  {offer: one, contentType: "application/yaml; charset=utf-8", want: codec.YAML},
		"protobuf":              {offer: one, contentType: "application/vnd.kubernetes.protobuf", want: codec.Protobuf},
		"cbor":                  {offer: withCBOR, contentType: "application/cbor", want: codec.CBOR},
		"cbor without the gate": {offer: one, contentType: "application/cbor", err: unknown + anyType},
		"text/yaml":             {offer: one, contentType: "text/yaml", err: unknown + anyType},
		"semicolons":            {offer: one, contentType: ";;;", err: unknown + anyType},
		"unknown to cbor":       {offer: withCBOR, contentType: "text/plain", err: unknown + anyType + ", application/cbor"},
		"custom in protobuf":    {offer: custom, contentType: "application/vnd.kubernetes.protobuf", err: unknown + "application/json, application/yaml"},
		"custom in plain text":  {offer: custom, contentType: "text/plain", err: unknown + anyType},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := row.offer.Body(row.contentType)
			if row.err != "" {
				assert.IsType(t, &codec.UnsupportedMediaTypeError{}, err)
				assert.EqualError(t, err, row.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

func FuzzNegotiate(f *testing.F) {
	f.Add("application/json;as=Table;g=meta.k8s.io;v=v1, */*;q=0.1", true)
	f.Add("application/cbor;stream=watch;sv=v1;pretty=1,text/html", false)
	f.Fuzz(func(t *testing.T, accept string, stream bool) {
		for _, offer := range []codec.Offer{one, customList, withCBOR} {
			got, err := offer.Negotiate(get(accept))
			if err == nil && stream {
				got, err = offer.Stream(got)
			}
			if err == nil {
				assert.NotEmpty(t, got.ContentType())
				assert.Equal(t, got.View == codec.Whole, got.Version == "")
			}
			failed, _ := offer.NegotiateError(get(accept))
			assert.Equal(t, codec.Whole, failed.View)
		}
	})
}
