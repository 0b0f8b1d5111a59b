package mvcc_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/mvcc"
)

func Example() {
	s := mvcc.New[string](mvcc.Options{})
	w, err := s.Watch("fruit/", 0)
	if err != nil {
		panic(err)
	}
	defer w.Close()

	rev, err := s.Update(func(tx *mvcc.Txn[string]) error {
		tx.Put("fruit/apple", "green")
		tx.Put("tree/oak", "tall")
		return nil
	})
	fmt.Println(rev, err)

	events, err := w.Next(context.Background())
	if err != nil {
		panic(err)
	}
	for _, e := range events {
		fmt.Println(e.Type, e.Item.Key, e.Item.Value)
	}
	// Output:
	// 3 <nil>
	// PUT fruit/apple green
}

func ExampleStore_View() {
	s := mvcc.New[string](mvcc.Options{})
	for _, color := range []string{"green", "red"} {
		_, _ = s.Update(func(tx *mvcc.Txn[string]) error {
			tx.Put("apple", color)
			return nil
		})
	}
	for _, at := range []mvcc.Revision{0, 2, 1} {
		v, err := s.View(at)
		if err != nil {
			panic(err)
		}
		fmt.Printf("revision %d:", v.Revision())
		for item := range v.Range("", "") {
			fmt.Printf(" %s is %s since %d,", item.Key, item.Value, item.Modified)
		}
		fmt.Println()
	}
	// Output:
	// revision 3: apple is red since 3,
	// revision 2: apple is green since 2,
	// revision 1:
}

func ExampleStore_Update() {
	s := mvcc.New[string](mvcc.Options{})
	_, err := s.Update(func(tx *mvcc.Txn[string]) error {
		tx.Put("apple", fmt.Sprint("picked at ", tx.Revision()))
		if _, ok := tx.Get("basket"); !ok {
			return errors.New("no basket")
		}
		return nil
	})
	v, _ := s.View(0)
	fmt.Println(err, v.Revision(), v.Count("", ""))
	// Output: no basket 1 0
}

// An Update that compares first is a compare-and-swap.
func ExampleStore_Update_compare() {
	s := mvcc.New[string](mvcc.Options{})
	errModified := errors.New("modified meanwhile")
	// paint sets the color of the apple if its revision is at.
	paint := func(at mvcc.Revision, color string) (mvcc.Revision, error) {
		return s.Update(func(tx *mvcc.Txn[string]) error {
			if apple, ok := tx.Get("apple"); ok && apple.Modified != at {
				return errModified
			}
			tx.Put("apple", color)
			return nil
		})
	}
	fmt.Println(paint(0, "green"))
	fmt.Println(paint(1, "yellow"))
	fmt.Println(paint(2, "red"))
	// Output:
	// 2 <nil>
	// 0 modified meanwhile
	// 3 <nil>
}

func ExampleStore_Compact() {
	s := mvcc.New[int](mvcc.Options{})
	for i := range 3 {
		_, _ = s.Update(func(tx *mvcc.Txn[int]) error {
			tx.Put("n", i)
			return nil
		})
	}
	fmt.Println(s.Compact(3))
	for at := mvcc.Revision(2); at <= s.Revision(); at++ {
		v, err := s.View(at)
		if err != nil {
			fmt.Println(err)
			continue
		}
		item, _ := v.Get("n")
		fmt.Println(at, item.Value)
	}
	// Output:
	// <nil>
	// mvcc: required revision has been compacted: requested 2, compacted 3, current 4
	// 3 1
	// 4 2
}

// A server waits for a watcher and other channels.
func ExampleWatcher_Wait() {
	s := mvcc.New[int](mvcc.Options{})
	w, err := s.Watch("n", 0)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			events, err := w.Poll(100)
			if err != nil {
				fmt.Println(err)
				return
			}
			for _, e := range events {
				fmt.Println(e.Type, e.Item.Key, e.Item.Value)
				if e.Item.Value == 2 {
					close(stop)
				}
			}
			if len(events) > 0 {
				continue
			}
			select {
			case <-w.Wait():
			case <-stop:
				return
			}
		}
	}()
	for i := range 3 {
		_, _ = s.Update(func(tx *mvcc.Txn[int]) error {
			tx.Put("n", i)
			return nil
		})
	}
	<-done
	// Output:
	// PUT n 0
	// PUT n 1
	// PUT n 2
}

func ExampleStore_Fork() {
	s := mvcc.New[string](mvcc.Options{})
	_, _ = s.Update(func(tx *mvcc.Txn[string]) error {
		tx.Put("apple", "green")
		return nil
	})

	child := s.Fork(mvcc.Options{})
	_, _ = child.Update(func(tx *mvcc.Txn[string]) error {
		tx.Delete("apple")
		return nil
	})

	for _, s := range []*mvcc.Store[string]{s, child} {
		v, _ := s.View(0)
		_, ok := v.Get("apple")
		fmt.Println(v.Revision(), ok)
	}
	// Output:
	// 2 true
	// 3 false
}

func ExampleStore_Log() {
	s := mvcc.New[string](mvcc.Options{})
	_, _ = s.Update(func(tx *mvcc.Txn[string]) error {
		tx.Put("apple", "green")
		tx.Put("pear", "yellow")
		return nil
	})
	_, _ = s.Update(func(tx *mvcc.Txn[string]) error {
		tx.Delete("apple")
		return nil
	})
	for tx := range s.Log(0) {
		fmt.Print(tx.Revision, ":")
		for _, e := range tx.Events {
			fmt.Print(" ", e.Type, " ", e.Item.Key)
		}
		fmt.Println()
	}
	// Output:
	// 3: PUT apple PUT pear
	// 4: DELETE apple
}

// Something that is made of all items of a range is made again when one of them has changed.
func ExampleStore_Mark() {
	s := mvcc.New[int](mvcc.Options{})
	put := func(key string, value int) {
		s.Update(func(tx *mvcc.Txn[int]) error {
			tx.Put(key, value)
			return nil
		})
	}
	var mark mvcc.Mark[int]
	sum := func() (sum int) {
		mark = s.Mark("fruit/") // before the items are read
		view, _ := s.View(0)
		for item := range view.Range("fruit/", mvcc.PrefixEnd("fruit/")) {
			sum += item.Value
		}
		return sum
	}
	put("fruit/apple", 1)
	put("fruit/pear", 2)
	fmt.Println(sum())
	put("tree/oak", 5)
	fmt.Println(mark == s.Mark("fruit/"))
	put("fruit/pear", 3)
	fmt.Println(mark == s.Mark("fruit/"))
	fmt.Println(sum())
	// Output:
	// 3
	// true
	// false
	// 4
}
