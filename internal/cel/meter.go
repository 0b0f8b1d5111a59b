package cel

import (
	"sync"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// A meter measures the cost of one evaluation, and ends the evaluation when its cost
// exceeds perCallLimit or its context ends. It is the activation of the evaluation.
//
// Its costs are exactly those of the cost tracker of cel-go v0.26. That one keeps
// the value of a step on a stack, until the step of which it is an argument takes
// it. A step looks for its arguments by their expression IDs. It removes what is
// above them, and leaves behind what it does not find, so the stack grows with every
// iteration of a comprehension. cel-go searches the stack from its top, which makes a
// comprehension quadratic. A meter knows the topmost entry of each ID.
type meter struct {
	vars  interpreter.Activation
	done  <-chan struct{} // of a context
	steps uint
	cost  uint64
	stack []stackEntry
	// top has, by expression ID, the number of entries up to and including the
	// topmost one of the ID; 0 if there is none.
	top  []int32
	args []ref.Val // of the call that is measured
}

// A stackEntry is the value of a step. below is the value of meter.top before the
// entry was pushed.
type stackEntry struct {
	value ref.Val
	id    int64
	below int32
}

// interruptInterval is the number of steps between two checks of the context.
const interruptInterval = 100

var meters = sync.Pool{New: func() any { return &meter{} }}

// newMeter returns a meter for an expression with IDs below size. Release it when
// done.
func newMeter(done <-chan struct{}, vars interpreter.Activation, size int) *meter {
	m := meters.Get().(*meter)
	m.vars, m.done = vars, done
	if cap(m.top) < size {
		m.top = make([]int32, size)
	}
	m.top = m.top[:size]
	return m
}

// maxKeptStack is the capacity of the largest stack that is kept for another
// evaluation.
const maxKeptStack = 4096

func (m *meter) release() {
	m.truncate(0)
	clear(m.args)
	if cap(m.stack) > maxKeptStack {
		m.stack = nil
	}
	*m = meter{stack: m.stack, top: m.top, args: m.args[:0]}
	meters.Put(m)
}

// meterName is the name at which the steps of an evaluation find its meter. No
// expression can use it.
const meterName = "#meter"

// meterOf returns the meter of an evaluation, nil for the evaluation of a constant
// when a program is made.
func meterOf(vars interpreter.Activation) *meter {
	v, _ := vars.ResolveName(meterName)
	m, _ := v.(*meter)
	return m
}

// ResolveName implements [interpreter.Activation].
func (m *meter) ResolveName(name string) (any, bool) {
	if name == meterName {
		return m, true
	}
	return m.vars.ResolveName(name)
}

// Parent implements [interpreter.Activation].
func (m *meter) Parent() interpreter.Activation { return m.vars }

// push ends a step that cost something.
func (m *meter) push(id int64, v ref.Val, cost uint64) {
	m.stack = append(m.stack, stackEntry{v, id, m.top[id]})
	m.top[id] = int32(len(m.stack))
	m.charge(cost)
}

// charge adds a cost. It panics with an interpreter.EvalCancelledError, which
// cel.Program recovers, if the limit is exceeded or the context has ended.
func (m *meter) charge(cost uint64) {
	m.cost += cost
	if m.cost > perCallLimit {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "operation cancelled: actual cost limit exceeded"})
	}
	if m.steps++; m.steps%interruptInterval != 0 {
		return
	}
	select {
	case <-m.done:
		panic(interpreter.EvalCancelledError{Cause: interpreter.ContextCancelled, Message: "operation interrupted"})
	default:
	}
}

// truncate removes the entries above the first n.
func (m *meter) truncate(n int) {
	for i := len(m.stack) - 1; i >= n; i-- {
		e := &m.stack[i]
		m.top[e.id] = e.below
		e.value = nil
	}
	m.stack = m.stack[:n]
}

// drop removes the topmost entry of an ID and what is above it. Without such an
// entry it does nothing.
func (m *meter) drop(id int64) {
	if n := m.top[id]; n > 0 {
		m.truncate(int(n) - 1)
	}
}

// dropArgs drops the entries of arguments, the last one first, and returns their
// values. It stops, and returns false, at an ID without an entry. The values are
// valid until the next call.
func (m *meter) dropArgs(ids []int64) ([]ref.Val, bool) {
	m.args = append(m.args[:0], make([]ref.Val, len(ids))...)
	for i := len(ids) - 1; i >= 0; i-- {
		n := m.top[ids[i]]
		if n == 0 {
			return nil, false
		}
		m.args[i] = m.stack[n-1].value
		m.truncate(int(n) - 1)
	}
	return m.args, true
}

// A step is what the meter does after a node of a program.
type step func(m *meter, v ref.Val) (cost uint64)

// pushOnly is the step of nodes without arguments on the stack and without a cost.
func pushOnly(*meter, ref.Val) uint64 { return 0 }

// dropEach returns the step of a node that has no cost of its own.
func dropEach(ids ...int64) step {
	return func(m *meter, _ ref.Val) uint64 {
		for _, id := range ids {
			m.drop(id)
		}
		return 0
	}
}

// callStep returns the step of a function call.
func callStep(args []int64, cost costFunc) step {
	return func(m *meter, result ref.Val) uint64 {
		values, ok := m.dropArgs(args)
		if !ok {
			return 0
		}
		return cost(values, result)
	}
}

// constructorStep returns the step of the construction of a value.
func constructorStep(args []int64, cost uint64) step {
	return func(m *meter, _ ref.Val) uint64 {
		m.dropArgs(args)
		return cost
	}
}

// attribute returns the cost of an attribute after its step.
func (m *meter) attribute(id int64, c *conditional, isPresenceTest bool) (cost uint64) {
	if c != nil {
		m.drop(c.falsy)
		m.drop(c.truthy)
		m.drop(c.condition)
	} else {
		m.drop(id)
		cost = common.SelectAndIdentCost
	}
	if isPresenceTest {
		cost -= common.SelectAndIdentCost // a presence test is free
	}
	return cost
}
