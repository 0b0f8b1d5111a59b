// Package template executes templates in the language of text/template on JSON values.
//
// A template of text/template can call any exported method by its name. So the linker keeps
// the exported methods of all types in a program that may execute one. The values here are
// those that encoding/json decodes, which have no methods, and what functions return.
//
// Differences from text/template: a field is an element of a map, and no field, variable or
// result is called as a function. Ranges are over lists, maps and integers.
package template

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// maxDepth bounds templates that execute themselves.
const maxDepth = 1000

// A Template is a parsed template. It is immutable.
type Template struct {
	name  string
	trees map[string]*parse.Tree
}

// Functions are Go functions by their names in templates. A function returns one value, or a
// value and an error.
type Functions map[string]any

// Parse parses a template. A function that is neither built in nor in the list of functions is
// an error.
func Parse(name, text string, functions Functions) (*Template, error) {
	trees, err := parse.Parse(name, text, "", "", builtins, functions)
	if err != nil {
		return nil, err
	}
	return &Template{name: name, trees: trees}, nil
}

// Execute returns what the template makes of data. The functions have the names that were
// given to Parse. An error names the position in the template.
func (t *Template) Execute(functions Functions, data any) (out string, err error) {
	x := &execution{trees: t.trees, functions: functions}
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(*failure)
			if !ok {
				panic(r)
			}
			out, err = "", failed.err
		}
	}()
	if data == nil {
		data = absent{}
	}
	x.template(t.name, data)
	return x.out.String(), nil
}

// absent is the value of a key that a map does not have, and of a pipeline whose value is null.
// Its fields are absent, while those of null are errors.
type absent struct{}

// A failure ends an execution by a panic.
type failure struct{ err error }

type variable struct {
	name  string
	value any
}

// An execution is one execution of a template.
type execution struct {
	trees     map[string]*parse.Tree
	functions Functions
	out       strings.Builder
	tree      *parse.Tree // of the template that executes
	variables []variable  // of that template, the newest last
	depth     int
}

// flow is how execution continues after a node.
type flow int

const (
	goOn flow = iota
	breakRange
	continueRange
)

// fail ends the execution with an error at a node.
func (x *execution) fail(at parse.Node, format string, args ...any) {
	location, context := x.tree.ErrorContext(at)
	panic(&failure{fmt.Errorf("template: %s: executing %q at <%s>: %w", location, x.tree.Name, context, fmt.Errorf(format, args...))})
}

// template executes the template with a name. Its variables are its own.
func (x *execution) template(name string, dot any) {
	defer func(tree *parse.Tree, variables []variable) {
		x.tree, x.variables = tree, variables
	}(x.tree, x.variables)
	x.tree, x.variables = x.trees[name], []variable{{"$", dot}}
	x.depth++
	x.walk(dot, x.tree.Root)
	x.depth--
}

func (x *execution) walk(dot any, node parse.Node) flow {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil { // there is no else
			return goOn
		}
		for _, child := range n.Nodes {
			if f := x.walk(dot, child); f != goOn {
				return f
			}
		}
	case *parse.TextNode:
		x.out.Write(n.Text)
	case *parse.ActionNode:
		v := x.pipeline(dot, n.Pipe)
		if len(n.Pipe.Decl) > 0 {
			break
		}
		if _, ok := v.(absent); ok {
			v = "<no value>"
		}
		fmt.Fprint(&x.out, v)
	case *parse.IfNode:
		return x.branch(dot, &n.BranchNode, false)
	case *parse.WithNode:
		return x.branch(dot, &n.BranchNode, true)
	case *parse.RangeNode:
		return x.rangeOver(dot, n)
	case *parse.BreakNode:
		return breakRange
	case *parse.ContinueNode:
		return continueRange
	case *parse.TemplateNode:
		if x.trees[n.Name] == nil {
			x.fail(n, "template %q not defined", n.Name)
		}
		if x.depth == maxDepth {
			x.fail(n, "exceeded maximum template depth (%d)", maxDepth)
		}
		x.template(n.Name, x.pipeline(dot, n.Pipe))
	case *parse.CommentNode:
	default:
		x.fail(n, "unknown node: %s", n)
	}
	return goOn
}

// branch executes an if, or a with, whose value becomes the dot.
func (x *execution) branch(dot any, n *parse.BranchNode, with bool) flow {
	defer x.scope()()
	v := x.pipeline(dot, n.Pipe)
	switch {
	case !isTrue(v):
		return x.walk(dot, n.ElseList)
	case with:
		dot = v
	}
	return x.walk(dot, n.List)
}

func (x *execution) rangeOver(dot any, n *parse.RangeNode) flow {
	defer x.scope()()
	v := x.pipeline(dot, n.Pipe)
	first := len(x.variables) - len(n.Pipe.Decl)
	empty := true
	// one executes the body and reports whether the range continues.
	one := func(key, element any) bool {
		empty = false
		defer x.scope()()
		for i, decl := range n.Pipe.Decl {
			value := element
			if i == 0 && len(n.Pipe.Decl) == 2 {
				value = key
			}
			if n.Pipe.IsAssign {
				x.assign(decl, value)
			} else {
				x.variables[first+i].value = value
			}
		}
		return x.walk(element, n.List) != breakRange
	}
	switch r := reflect.ValueOf(v); {
	case v == absent{}:
	case r.Kind() == reflect.Map:
		keys := make([]string, 0, r.Len())
		for _, key := range r.MapKeys() {
			keys = append(keys, key.String())
		}
		slices.Sort(keys)
		for _, key := range keys {
			if !one(key, r.MapIndex(reflect.ValueOf(key)).Interface()) {
				break
			}
		}
	case r.Kind() == reflect.Slice:
		for i := range r.Len() {
			if !one(i, r.Index(i).Interface()) {
				break
			}
		}
	case r.CanInt():
		if len(n.Pipe.Decl) > 1 {
			x.fail(n.Pipe, "can't use %v to iterate over more than one variable", v)
		}
		for i := range r.Int() {
			if !one(nil, reflect.ValueOf(i).Convert(r.Type()).Interface()) {
				break
			}
		}
	default:
		x.fail(n.Pipe, "range can't iterate over %v", v)
	}
	if empty {
		return x.walk(dot, n.ElseList)
	}
	return goOn
}

// scope returns a function that ends the variables that are declared after the call.
func (x *execution) scope() (end func()) {
	n := len(x.variables)
	return func() { x.variables = x.variables[:n] }
}

func (x *execution) assign(decl *parse.VariableNode, value any) {
	x.variables[x.lookup(decl)].value = value
}

// lookup returns the index of a variable. The parser has checked that it exists.
func (x *execution) lookup(n *parse.VariableNode) int {
	for i := len(x.variables) - 1; i >= 0; i-- {
		if x.variables[i].name == n.Ident[0] {
			return i
		}
	}
	x.fail(n, "undefined variable: %s", n.Ident[0])
	return 0
}

// pipeline returns the value of a pipeline, and declares or sets its variables.
func (x *execution) pipeline(dot any, pipe *parse.PipeNode) any {
	if pipe == nil {
		return absent{}
	}
	var v any
	for i, command := range pipe.Cmds {
		v = x.command(dot, command, v, i > 0)
		if v == nil {
			v = absent{}
		}
	}
	for _, decl := range pipe.Decl {
		if pipe.IsAssign {
			x.assign(decl, v)
		} else {
			x.variables = append(x.variables, variable{decl.Ident[0], v})
		}
	}
	return v
}

// command returns the value of a command. Unless it is the first of its pipeline, its last
// argument is the value of the command before.
func (x *execution) command(dot any, n *parse.CommandNode, last any, hasLast bool) any {
	word := n.Args[0]
	if name, ok := word.(*parse.IdentifierNode); ok {
		return x.call(dot, name, n, n.Args[1:], last, hasLast)
	}
	if len(n.Args) > 1 || hasLast {
		x.fail(word, "can't give argument to non-function %s", word)
	}
	if _, ok := word.(*parse.NilNode); ok {
		x.fail(word, "nil is not a command")
	}
	return x.value(dot, word)
}

// value returns the value of an operand.
func (x *execution) value(dot any, node parse.Node) any {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.NilNode:
		return nil
	case *parse.BoolNode:
		return n.True
	case *parse.StringNode:
		return n.Text
	case *parse.NumberNode:
		return x.number(n)
	case *parse.FieldNode:
		return x.fields(n, dot, n.Ident)
	case *parse.VariableNode:
		return x.fields(n, x.variables[x.lookup(n)].value, n.Ident[1:])
	case *parse.ChainNode:
		return x.fields(n, x.value(dot, n.Node), n.Field)
	case *parse.PipeNode:
		return x.pipeline(dot, n)
	case *parse.IdentifierNode:
		return x.call(dot, n, n, nil, nil, false)
	}
	x.fail(node, "can't evaluate %q", node)
	return nil
}

// number returns a number as an int or a float64.
func (x *execution) number(n *parse.NumberNode) any {
	switch {
	case n.IsFloat && strings.ContainsAny(n.Text, ".eEpP") && n.Text[0] != '\'' && !isHex(n.Text):
		return n.Float64
	case n.IsInt && n.Int64 == int64(int(n.Int64)):
		return int(n.Int64)
	case n.IsComplex:
		x.fail(n, "complex number %s", n.Text)
	}
	x.fail(n, "%s overflows int", n.Text)
	return nil
}

// isHex reports whether a number is a hexadecimal integer, where e is a digit.
func isHex(text string) bool {
	return strings.HasPrefix(strings.ToLower(text), "0x") && !strings.ContainsAny(text, "pP")
}

// fields returns a member of the members of v.
func (x *execution) fields(at parse.Node, v any, names []string) any {
	for _, name := range names {
		switch m := v.(type) {
		case absent:
			return m
		case nil:
			x.fail(at, "can't evaluate field %s of null", name)
		case map[string]any:
			member, ok := m[name]
			if !ok {
				member = absent{}
			}
			v = member
		default:
			x.fail(at, "can't evaluate field %s in type %T", name, v)
		}
	}
	return v
}

// call calls a function, whose own errors are at a node. and and or evaluate no more arguments
// than they need.
func (x *execution) call(dot any, n *parse.IdentifierNode, at parse.Node, args []parse.Node, last any, hasLast bool) any {
	function, ok := x.functions[n.Ident]
	if !ok {
		function = builtins[n.Ident]
	}
	f := reflect.ValueOf(function)
	typ := f.Type()
	count := len(args)
	if hasLast {
		count++
	}
	if fixed := typ.NumIn() - 1; typ.IsVariadic() && count < fixed {
		x.fail(n, "wrong number of args for %s: want at least %d got %d", n.Ident, fixed, count)
	} else if !typ.IsVariadic() && count != fixed+1 {
		x.fail(n, "wrong number of args for %s: want %d got %d", n.Ident, fixed+1, count)
	}
	if !ok && (n.Ident == "and" || n.Ident == "or") {
		var v any
		for _, arg := range args {
			if v = x.value(dot, arg); isTrue(v) == (n.Ident == "or") {
				return v
			}
		}
		if hasLast {
			v = last
		}
		return v
	}
	in := make([]reflect.Value, 0, count)
	for i, arg := range args {
		in = append(in, x.argument(dot, arg, parameter(typ, i)))
	}
	if hasLast {
		in = append(in, x.convert(n, last, parameter(typ, len(args))))
	}
	out, err := invoke(f, in)
	if err != nil {
		x.fail(at, "error calling %s: %w", n.Ident, err)
	}
	return out
}

// invoke calls a function with arguments of its types. A panic of the function is an error.
func invoke(f reflect.Value, in []reflect.Value) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	out := f.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		err = out[1].Interface().(error)
	}
	return out[0].Interface(), err
}

// parameter returns the type of the ith argument of a function.
func parameter(typ reflect.Type, i int) reflect.Type {
	if typ.IsVariadic() && i >= typ.NumIn()-1 {
		return typ.In(typ.NumIn() - 1).Elem()
	}
	return typ.In(i)
}

// argument returns the value of an operand as an argument of a type. A number in a template
// becomes an integer of the type.
func (x *execution) argument(dot any, node parse.Node, typ reflect.Type) reflect.Value {
	switch n := node.(type) {
	case *parse.NumberNode:
		if v := reflect.New(typ).Elem(); n.IsInt && v.CanInt() {
			v.SetInt(n.Int64)
			return v
		}
	case *parse.NilNode:
		if kind := typ.Kind(); kind != reflect.Interface && kind != reflect.Map {
			x.fail(n, "cannot assign nil to %s", typ)
		}
	}
	v := x.value(dot, node)
	switch node.(type) {
	case *parse.NumberNode, *parse.StringNode, *parse.BoolNode:
		if !reflect.TypeOf(v).AssignableTo(typ) {
			x.fail(node, "expected %s; found %s", typ, node)
		}
	}
	return x.convert(node, v, typ)
}

// convert returns v as a value of a type.
func (x *execution) convert(at parse.Node, v any, typ reflect.Type) reflect.Value {
	if _, ok := v.(absent); ok || v == nil {
		if kind := typ.Kind(); kind != reflect.Interface && kind != reflect.Map {
			x.fail(at, "invalid value; expected %s", typ)
		}
		return reflect.Zero(typ)
	}
	r := reflect.ValueOf(v)
	if !r.Type().AssignableTo(typ) {
		x.fail(at, "wrong type for value; expected %s; got %s", typ, r.Type())
	}
	return r
}

// isTrue reports whether a value is neither absent nor the zero value of its type, nor empty.
func isTrue(v any) bool {
	if _, ok := v.(absent); ok {
		return false
	}
	return IsTrue(v)
}

// IsTrue reports whether a value is neither null nor the zero value of its type, nor an empty
// list or map.
func IsTrue(v any) bool {
	truth, _ := template.IsTrue(v)
	return truth
}
