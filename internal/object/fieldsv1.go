package object

// A FieldsV1 is the value of fieldsV1 in an entry of managedFields: the JSON of a field
// set, compact and with sorted members. It stays text in decoded objects, because few
// writes change the field sets of an object.
//
// A fieldsV1 of another form, such as a map, is equivalent: package wire encodes both to
// the same JSON.
type FieldsV1 string

// MarshalJSON implements json.Marshaler.
func (f FieldsV1) MarshalJSON() ([]byte, error) { return []byte(f), nil }

// Value returns the field set in the form that JSON decodes to, nil if the text is not
// JSON.
func (f FieldsV1) Value() any { return parse(string(f)) }
