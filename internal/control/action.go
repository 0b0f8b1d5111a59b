package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/journal"
)

// A UserAgent selects clients.
type UserAgent struct {
	// UserAgent matches the User-Agent header of the clients, such as manager/*.
	UserAgent string `json:"userAgent"`
}

// Disconnected says how many connections were broken.
type Disconnected struct {
	Connections int `json:"connections"`
}

// Disconnect breaks connections of the clients whose user agent matches a pattern, and
// returns their number. See [fault.Set.Disconnect].
func (c *Control) Disconnect(userAgent string) int {
	n := c.faults.Disconnect(userAgent)
	c.cluster.Journal().RecordNote(journal.Note{Kind: journal.Fault, Text: "disconnected", UserAgent: userAgent})
	return n
}

func (c *Control) disconnect(_ *Request, in UserAgent) (Disconnected, error) {
	return Disconnected{c.Disconnect(in.UserAgent)}, nil
}

// Act does an action of a fault.
func (c *Control) Act(ctx context.Context, a faults.Action) error {
	op, r, err := requestOf(a)
	if err != nil {
		return err
	}
	r.Context = ctx
	_, err = op.handle(c, r)
	return err
}

// CheckAction fails for an action whose operation does not exist or does nothing to the
// server, and for a body that the operation does not have.
func CheckAction(a faults.Action) error {
	op, r, err := requestOf(a)
	if err != nil {
		return err
	}
	return r.decode(reflect.New(op.in).Interface())
}

// requestOf returns the operation of an action and its request.
func requestOf(a faults.Action) (*Operation, *Request, error) {
	op, err := operationOf(a)
	if err != nil {
		return nil, nil, err
	}
	r, err := op.request(a)
	return op, r, err
}

// operationOf returns the operation of an action.
func operationOf(a faults.Action) (*Operation, error) {
	for i := range operations() {
		switch op := &operations()[i]; {
		case op.ID != a.Operation:
		case op.Method == http.MethodGet:
			return nil, errors.New("the operation only reads")
		case op.ID == "play":
			return nil, errors.New("a fault cannot play a scenario, because the scenario waits for the fault")
		case op.ID == "settle":
			return nil, errors.New("a fault cannot wait until the server has settled, because the server waits for the fault")
		default:
			return op, nil
		}
	}
	return nil, errors.New("the control endpoint has no operation of that name")
}

// operations returns Operations, whose values refer to functions that act.
var operations func() []Operation

func init() { operations = func() []Operation { return Operations } }

// request returns the request of an action.
func (o *Operation) request(a faults.Action) (*Request, error) {
	r := &Request{Method: o.Method, Path: Prefix + o.Path, Query: url.Values{}}
	if o.Method != http.MethodDelete {
		r.Body = a.Body
		return r, nil
	}
	var query map[string]any
	if len(bytes.TrimSpace(a.Body)) > 0 {
		if err := json.Unmarshal(a.Body, &query); err != nil {
			return nil, err
		}
	}
	known := map[string]bool{}
	for i := range o.in.NumField() {
		known[o.in.Field(i).Tag.Get("query")] = true
	}
	for name, value := range query {
		if !known[name] {
			return nil, fmt.Errorf("unknown field %q", name)
		}
		values, ok := value.([]any)
		if !ok {
			values = []any{value}
		}
		for _, v := range values {
			r.Query.Add(name, fmt.Sprint(v))
		}
	}
	return r, nil
}
