package object

// An Object is an API object that never changes. It is compared by its pointer: what a change
// makes of it is another Object.
type Object struct {
	view View
	seal seal
}

// FromMap returns an Object with the fields of m, without copying them. m and what is within it
// belong to the Object: the caller does not write to them any more.
func FromMap(m map[string]any) *Object {
	return &Object{View{m}, sealed(m)}
}

// View returns a view of the object. In builds with the race detector it panics if something has
// written to what the object has.
func (o *Object) View() View {
	o.seal.check(o.view.v)
	return o.view
}
