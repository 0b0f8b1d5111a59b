package fieldmanager

// fields returns the fields of a valid object that an apply of it owns: values without
// members, values that are owned as a whole, elements of lists, and members that the schema
// does not name. The tree is normalized and in c's room. The time is n log n in the number of
// list elements.
func (c *comparer) fields(s *resolvedType, obj map[string]any) (fieldTree, error) {
	tree, _, err := c.collect(s, obj)
	return tree.normalize(), err
}

// collect returns the paths below a value. It reports whether the value is owned itself.
func (c *comparer) collect(s *resolvedType, v any) (below fieldTree, member bool, err error) {
	if err := c.pacer.step(); err != nil {
		return nil, false, err
	}
	switch as := variantOf(s, v); {
	case as == mapVariant || as == anyVariant && s.object != nil:
		members, _ := v.(map[string]any)
		if s.object.atomic {
			return nil, true, nil
		}
		below, err = c.collectMembers(s.object, members)
		return below, false, err
	case as == scalarVariant || as == anyVariant && s.scalar != nil:
		return nil, true, nil
	}
	list, _ := v.([]any)
	if s.list.atomic {
		return nil, true, nil
	}
	below, err = c.collectElements(s.list, list)
	return below, false, err
}

func (c *comparer) collectMembers(t *mapType, members map[string]any) (fieldTree, error) {
	tree := c.newTree(len(members))
	for name, v := range members {
		step, s, known := t.field(name)
		below, member, err := c.collect(s, v)
		if err != nil {
			return nil, err
		}
		if !known || v == nil {
			member = true
		} else if m, ok := v.(map[string]any); ok && len(m) == 0 {
			member = true
		}
		tree.add(step, member, below)
	}
	return tree, nil
}

func (c *comparer) collectElements(t *listType, list []any) (fieldTree, error) {
	elements, err := matchElements(t, nil, list)
	if err != nil {
		return nil, err
	}
	tree := c.newTree(len(elements))
	for i := range elements {
		e := &elements[i]
		var below fieldTree
		if e.moreAfter == nil { // elements with the same key are owned together
			if below, _, err = c.collect(t.element, e.after); err != nil {
				return nil, err
			}
		}
		tree.add(e.step, true, below)
	}
	return tree, nil
}
