package kinds

func defaultPriorityClass(obj map[string]any) { fill(obj, "preemptionPolicy", "PreemptLowerPriority") }
