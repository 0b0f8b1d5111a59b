package fieldmanager

// fields returns the fields of an object that an apply of it owns: values without
// members, values that are owned as a whole, elements of lists, and members that the schema
// does not name. The tree is normalized and in c's room. The time is n log n in the number of
// list elements.
//
// It returns errInvalid unless the object matches its type. Elements of lists may have the same
// key if duplicates is set.
func (c *comparer) fields(s *resolvedType, obj map[string]any, duplicates bool) (fieldTree, error) {
	tree, _, err := c.collect(s, obj, duplicates)
	return tree, err
}

// collect returns the paths below a value. It reports whether the value is owned itself.
func (c *comparer) collect(s *resolvedType, v any, duplicates bool) (below fieldTree, member bool, err error) {
	if err := c.pacer.step(); err != nil {
		return nil, false, err
	}
	switch v := v.(type) {
	case map[string]any:
		if s.object != nil && !s.object.atomic {
			below, err = c.collectMembers(s.object, v, duplicates)
			return below, false, err
		}
	case []any:
		if s.list != nil && !s.list.atomic {
			below, err = c.collectElements(s.list, v, duplicates)
			return below, false, err
		}
	}
	return nil, true, (&walker{pacer: c.pacer}).validate(s, v, duplicates)
}

func (c *comparer) collectMembers(t *mapType, members map[string]any, duplicates bool) (fieldTree, error) {
	tree := c.newTree(len(members))
	for name, v := range members {
		step, s, known := t.field(name)
		below, member, err := c.collect(s, v, duplicates)
		if err != nil {
			return nil, err
		}
		if !known {
			member = true
		} else if m, ok := v.(map[string]any); ok && len(m) == 0 {
			member = true
		}
		tree.add(step, member, below)
	}
	tree.sort()
	return tree, nil
}

func (c *comparer) collectElements(t *listType, list []any, duplicates bool) (fieldTree, error) {
	tree := c.newTree(len(list))
	for _, v := range list {
		if !t.hasKeys(v) {
			return nil, errInvalid
		}
		step, err := t.step(v)
		if err != nil {
			return nil, err
		}
		below, _, err := c.collect(t.element, v, duplicates)
		if err != nil {
			return nil, err
		}
		tree.add(step, true, below)
	}
	tree.sort()
	n := 0
	for i := range tree {
		switch {
		case n == 0 || tree[i].text != tree[n-1].text:
			tree[n] = tree[i]
			n++
		case !duplicates:
			return nil, errInvalid
		default:
			tree[n-1].below = nil // elements with the same key are owned together
		}
	}
	return tree[:n], nil
}
