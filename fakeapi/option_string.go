package fakeapi

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// An option is a call of a function that returns an Option.
type option struct {
	name string
	args []any
	set  func(*config)
}

// newOption returns the Option of the function with a name, which was called with args.
func newOption(name string, set func(*config), args ...any) Option {
	return option{name, args, set}
}

func (o option) apply(c *config) { o.set(c) }

// String returns the call, without the secrets in its arguments: of keys, tokens and objects it
// shows only what they are.
func (o option) String() string {
	args := make([]string, len(o.args))
	for i, arg := range o.args {
		args[i] = textOf(reflect.ValueOf(arg))
	}
	return o.name + "(" + strings.Join(args, ", ") + ")"
}

// A secret is an argument that is not shown.
type secret string

func (secret) String() string { return `"..."` }

// typesOf returns the types of values.
func typesOf(values []any) []reflect.Type {
	out := make([]reflect.Type, len(values))
	for i, v := range values {
		out[i] = reflect.TypeOf(v)
	}
	return out
}

// textOf returns a value about as it is written in Go. Of functions, interfaces and bytes it
// returns the type only.
func textOf(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case time.Time:
			return x.Format(time.RFC3339)
		case fmt.Stringer:
			return x.String()
		case []byte:
			return "[]byte"
		}
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type().PkgPath() != "" { // such as os.DirFS
			return fmt.Sprintf("%s(%q)", v.Type(), v.String())
		}
		return strconv.Quote(v.String())
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64:
		return fmt.Sprint(v)
	case reflect.Struct:
		return v.Type().String() + "{" + strings.Join(fieldTexts(v), ", ") + "}"
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			return "&" + textOf(v.Elem())
		}
		return textOf(v.Elem())
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = textOf(v.Index(i))
		}
		return strings.Join(items, ", ")
	case reflect.Map:
		if v.Type().PkgPath() == "" { // not fstest.MapFS
			return fmt.Sprint(v)
		}
	}
	return v.Type().String()
}

// fieldTexts returns the fields of a struct that are not zero.
func fieldTexts(v reflect.Value) (out []string) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
			text := textOf(v.Field(i))
			if v.Field(i).Kind() == reflect.Slice && v.Field(i).Type().Elem().Kind() != reflect.Uint8 {
				text = "{" + text + "}"
			}
			out = append(out, f.Name+": "+text)
		}
	}
	return out
}
