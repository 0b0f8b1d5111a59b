package wire

// A GoType is the Go type of a value in an object. The zero GoType is that of untyped data.
type GoType struct{ node *node }

// GoType returns the type of the object itself.
func (t *Type) GoType() GoType { return GoType{t.root} }

// IsStruct reports whether values are structs, which decoded objects have as maps.
func (t GoType) IsStruct() bool { return t.is(kindStruct) }

// IsMap reports whether values are maps.
func (t GoType) IsMap() bool { return t.is(kindMap) }

// IsList reports whether values are lists.
func (t GoType) IsList() bool { return t.is(kindSlice) }

func (t GoType) is(kind nodeKind) bool { return t.node != nil && t.node.kind == kind }

// Member returns the type of a field of a struct or of the values of a map. It is the zero
// GoType if there is none.
func (t GoType) Member(name string) GoType {
	switch {
	case t.IsMap():
		return GoType{t.node.elem}
	case t.IsStruct():
		if i := t.node.byName.Find(name); i >= 0 {
			return GoType{t.node.fields[i].node}
		}
	}
	return GoType{}
}

// Element returns the type of the elements of a list, the zero GoType for other types.
func (t GoType) Element() GoType {
	if t.IsList() {
		return GoType{t.node.elem}
	}
	return GoType{}
}

// String returns the type as Go prints it, such as "v1.PodSpec".
func (t GoType) String() string {
	if t.node == nil {
		return "interface {}"
	}
	return t.node.goType
}
