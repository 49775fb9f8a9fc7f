// Command embed-service serves a look-up to a kernel: work-items ask a Go program for the prices of articles.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
)

// shop represents a database. Its methods are safe for concurrent use.
type shop map[int32]float32

func (s shop) price(ctx context.Context, article int32) (float32, error) {
	price, ok := s[article]
	if !ok {
		return 0, fmt.Errorf("there is no article %d", article)
	}
	return price, ctx.Err()
}

const script = `
import { device, kernel, f32, i32 } from 'offload'

const articles = [10, 11, 10, 12], counts = [1, 2, 3, 4]
const d = device(), n = articles.length
const which = d.buffer(i32, n, i => articles[i]), many = d.buffer(f32, n, i => counts[i]), total = d.buffer(f32, n)

const bill = kernel((g, which, many, total) => {
  total[g.x] = many[g.x] * f32(g.call('price', which[g.x]))
})
await bill.launch({ size: n }, which, many, total)
console.log(...await total.read())
`

func run(out io.Writer, s shop) error {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{Stdout: out, Services: []orepl.Service{{Name: "price", Func: s.price}}})
	if err != nil {
		return err
	}
	defer engine.Close()
	_, err = engine.Run(context.Background(), "bill.js", script)
	return err
}

func main() {
	if err := run(os.Stdout, shop{10: 2.5, 11: 4, 12: 0.75}); err != nil {
		log.Fatal(err)
	}
}
