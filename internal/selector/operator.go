package selector

// An Operator relates a key to values. Field selectors use [Equals] and
// [NotEquals] only.
type Operator string

// The operators, spelled as error messages list them.
const (
	Equals       Operator = "="
	DoubleEquals Operator = "=="
	NotEquals    Operator = "!="
	In           Operator = "in"
	NotIn        Operator = "notin"
	Exists       Operator = "exists"
	DoesNotExist Operator = "!"
	GreaterThan  Operator = "gt"
	LessThan     Operator = "lt"
)
