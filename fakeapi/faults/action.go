package faults

import (
	"encoding/json"
	"fmt"
)

// An Action is a request to the control endpoint, made by a fault. In YAML and JSON it is
// an object with one field: the name of the operation, with the body of its request.
//
//	{lag: {resource: pods, frozen: true}}
type Action struct {
	// Operation is the name of the operation in the OpenAPI document of the control
	// endpoint: "lag", "changeObjects", "disconnect".
	Operation string
	// Body is the body of the request; for an operation with a query, an object with
	// its parameters. Nil is {}.
	Body json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (a Action) MarshalJSON() ([]byte, error) {
	body := a.Body
	if body == nil {
		body = json.RawMessage("{}")
	}
	return json.Marshal(map[string]json.RawMessage{a.Operation: body})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Action) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil || len(fields) != 1 {
		return fmt.Errorf("do: %s is not an object with one operation, such as {lag: {resource: pods, frozen: true}}", b)
	}
	for name, body := range fields {
		*a = Action{Operation: name, Body: body}
	}
	if string(a.Body) == "null" {
		a.Body = nil
	}
	return nil
}

// String returns the action on one line: `lag {"frozen":true,"resource":"pods"}`.
func (a Action) String() string {
	if len(a.Body) == 0 || string(a.Body) == "{}" {
		return a.Operation
	}
	return a.Operation + " " + string(a.Body)
}
