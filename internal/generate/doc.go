// Package generate makes objects that a structural schema and its validation rules allow.
//
// A Generator first makes a value of each field by the schema alone, with a taste for boundaries:
// absent, empty, the least, the greatest, each enum value, each arm of a union. Then it asks for the
// errors of the whole object, and makes the values anew that they name, until there are none. Texts and
// numbers in the rules are among the values that it tries, because rules compare with them.
//
// What it makes depends on Choices alone: random ones, or those of the bytes that a fuzzer changes. The
// first of several choices is the simplest one.
package generate
