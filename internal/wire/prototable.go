package wire

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A message is the protobuf form of a struct. Messages form a graph that may
// have cycles. They are immutable once a Type has returned one.
type message struct {
	name   string       // of the Go type, for errors
	node   *node        // the struct; for an embedded struct, the enclosing one
	fields []protoField // by number
	byNum  []uint8      // indexes into fields plus one
}

// A protoField is a field of a message. The message of an embedded struct has
// fields that are members of the same object.
type protoField struct {
	*field  // nil for an embedded struct
	number  int32
	key     uint64 // number and wire type, as written before a value
	member  int    // index in node.fields, -1 for an embedded struct
	wrapped bool   // a list in a message of its own

	// message is the message of the embedded struct, of the struct that is the
	// value or element, or of the schema in it; else nil.
	message *message
}

// typeMetaType is embedded in every kind and is not part of its message.
const typeMetaType = metaPackage + ".TypeMeta"

// lockedMessage is message for a caller that does not hold mu.
func (t *table) lockedMessage(spelling string) *message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.message(spelling)
}

// message returns the message of a struct by its spelling, nil if it has none.
// The first call creates it. The caller holds mu.
func (t *table) message(spelling string) *message {
	if m, ok := t.messages[spelling]; ok {
		return m
	}
	n := t.node(spelling)
	m := &message{name: n.name, node: n}
	t.messages[spelling] = m // before its fields, because types are recursive
	if !t.addProtoFields(m, t.body(spelling)) {
		t.messages[spelling] = nil
		return nil
	}
	return m
}

// body returns the lines of a struct's fields.
func (t *table) body(spelling string) string {
	dot := strings.LastIndexByte(spelling, '.')
	_, body, _ := strings.Cut(t.declarations(spelling[:dot])[spelling[dot+1:]], "\n")
	return body
}

// addProtoFields adds the fields in the lines of a struct to m. It reports
// whether all of them have a protobuf field.
func (t *table) addProtoFields(m *message, lines string) bool {
	for lines != "" {
		var line string
		line, lines, _ = strings.Cut(lines, "\n")
		parts := strings.Fields(line)
		name, spelling, flags := parts[0], parts[1], parts[2]
		embedded := strings.Contains(flags, "i")
		if len(parts) < 4 {
			if spelling == typeMetaType && embedded {
				continue
			}
			return false
		}
		tag := strings.Split(parts[3], ",")
		number, err := strconv.Atoi(tag[1])
		if err != nil {
			panic("wire: wiretypes.zip: " + err.Error())
		}
		f := protoField{number: int32(number), member: -1}
		if embedded {
			f.key = uint64(number)<<3 | wireBytes
			f.message = &message{name: name, node: m.node}
			t.addProtoFields(f.message, t.body(spelling))
			m.fields = append(m.fields, f)
			continue
		}
		member := m.node.byName.Find(name)
		if member < 0 {
			continue // a field of newer releases
		}
		f.member = member
		f.field = &m.node.fields[f.member]
		spelling = strings.TrimPrefix(spelling, "*")
		wireType := f.node.wireType()
		if f.node.kind == kindSlice {
			f.wrapped = tag[2] != "rep" && !strings.HasPrefix(spelling, "[]")
			if !f.wrapped {
				wireType = f.node.elem.wireType()
			}
		}
		f.key = uint64(number)<<3 | uint64(wireType)
		f.message = t.within(f.node, spelling)
		m.fields = append(m.fields, f)
	}
	slices.SortFunc(m.fields, func(a, b protoField) int { return cmp.Compare(a.number, b.number) })
	for i := range m.fields {
		number := m.fields[i].number
		for len(m.byNum) <= int(number) {
			m.byNum = append(m.byNum, 0)
		}
		m.byNum[number] = uint8(i + 1)
	}
	return true
}

// within returns the message of the struct that a type is or contains.
func (t *table) within(n *node, spelling string) *message {
	for {
		switch n.kind {
		case kindStruct:
			return t.message(spelling)
		case kindSchemaOrBool, kindSchemaOrArray, kindSchemaOrStrings:
			return t.message(spelling[:strings.LastIndexByte(spelling, '.')] + ".JSONSchemaProps")
		case kindSlice, kindMap:
			spelling = t.elem(spelling)
			n = n.elem
		default:
			return nil
		}
	}
}

// elem returns the spelling of the element of a list or a map type.
func (t *table) elem(spelling string) string {
	for {
		if elem, ok := strings.CutPrefix(spelling, "[]"); ok {
			return elem
		}
		if _, elem, ok := strings.Cut(spelling, "]"); ok {
			return elem
		}
		dot := strings.LastIndexByte(spelling, '.')
		head, _, _ := strings.Cut(t.declarations(spelling[:dot])[spelling[dot+1:]], "\n")
		_, spelling, _ = strings.Cut(head, " ")
	}
}

// field returns the field with a number, nil if there is none.
func (m *message) field(number int32) *protoField {
	if int(number) < len(m.byNum) && m.byNum[number] != 0 {
		return &m.fields[m.byNum[number]-1]
	}
	return nil
}
