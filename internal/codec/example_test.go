package codec_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/wire"
)

func ExampleOffer_Negotiate() {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
	r.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1, application/json;q=0.5")
	response, err := codec.Offer{List: true}.Negotiate(r)
	fmt.Println(response.ContentType(), response.View, response.Version, err)
	// Output: application/json Table v1 <nil>
}

func ExampleOffer_Body() {
	_, err := codec.Offer{}.Body("text/plain")
	fmt.Println(err)
	// Output: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf
}

func ExampleFormat_Append() {
	namespace, _ := wire.ForKind("", "v1", "Namespace")
	doc := []byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"},"spec":{},"status":{}}`)
	fmt.Printf("%s", codec.YAML.Append(nil, doc, namespace))
	// Output:
	// apiVersion: v1
	// kind: Namespace
	// metadata:
	//   name: a
	// spec: {}
	// status: {}
}

func ExampleAppendPretty() {
	fmt.Printf("%s", codec.AppendPretty(nil, []byte(`{"kind":"Status","metadata":{}}`)))
	// Output:
	// {
	//   "kind": "Status",
	//   "metadata": {}
	// }
}

func ExampleFormat_AppendEvent() {
	object := []byte(`{"kind":"Namespace"}`)
	fmt.Printf("%s", codec.JSON.AppendEvent(nil, "ADDED", object))
	// Output: {"type":"ADDED","object":{"kind":"Namespace"}}
}

func ExampleFormat_WriteList() {
	namespace, _ := wire.ForKind("", "v1", "Namespace")
	list := codec.List{
		Kind: "NamespaceList", APIVersion: "v1",
		Metadata: []byte(`{"resourceVersion":"5"}`),
		Items:    slices.Values([][]byte{[]byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"}}`)}),
		Item:     namespace,
	}
	var b bytes.Buffer
	if err := codec.Protobuf.WriteList(&b, list); err != nil {
		fmt.Println(err)
	}
	d, err := codec.Protobuf.Parse(b.Bytes())
	fmt.Println(d.Kind, err)
	// Output: NamespaceList <nil>
}

func ExampleFormat_Parse() {
	d, err := codec.YAML.Parse([]byte("kind: ConfigMap\napiVersion: v1\ndata: {k: v}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.APIVersion, d.Kind)
	// Output: v1 ConfigMap
}

func ExampleCompress() {
	handler := func(w http.ResponseWriter, r *http.Request) {
		c := codec.Compress(w, r)
		defer c.Close()
		c.Write(bytes.Repeat([]byte("x"), 200<<10))
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	handler(w, r)
	fmt.Println(w.Header().Get("Content-Encoding"), w.Body.Len() < 1000)
	// Output: gzip true
}
