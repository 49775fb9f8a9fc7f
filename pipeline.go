package orepl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/internals/goroutine"
	"github.com/orepl/orepl/runtime/observe"
	contract "github.com/orepl/orepl/runtime/offload"
)

// PipelineOptions are the options of a pipeline.
type PipelineOptions struct {
	// Engine has the options of the script's engines. With Isolate each instance is a process of its own, and data is in memory
	// that it shares with the program (Linux).
	Engine EngineOptions
	// Instances is the number of concurrent runs; each has its own engine and buffers. Default: the number of CPUs, but at
	// most 4 and at least one for each device.
	Instances int
	// Prefer lists ids of devices, such as "cuda:1", or names of plugins. Each instance takes the first one that is available. It
	// replaces a list of the script, not a single device, which the script requires.
	Prefer []string
	// Devices lists ids of devices over which the instances are spread; a plugin's name means all of its devices, and "gpu" all GPUs.
	// Unavailable ones are left out. It replaces a list of the script, as Prefer does, with which it cannot be combined.
	Devices []string
}

// Pipeline is the default export of a script, created with pipeline({…}) of module 'offload'. It is safe for concurrent use.
// Buffers are reused, so that runs with equal shapes allocate none.
type Pipeline struct {
	rt       *Runtime
	path     string
	opts     PipelineOptions
	declared program // the first instance's, for its declaration
	counts   counts
	key      any // the runKey that marks contexts of its runs

	slots    chan struct{} // one slot per concurrent run
	ended    chan struct{} // closed by Close
	mu       sync.Mutex
	idle     []*instance   // most recently used last
	live     []*instance   // all that exist, in order of their loads
	snapshot *esm.Snapshot // files that isolated instances share; nil before the first one
	failed   []string      // files that an isolated script read before its load failed
	busy     int           // runs that hold an instance or wait for one
	empty    chan struct{} // closed when the pipeline has ended and no run is busy

	waiting    []chan *instance   // runs that wait for an instance, longest first
	making     int                // instances that are being loaded
	builds     sync.WaitGroup     // replacements
	background context.Context    // of replacements
	stop       context.CancelFunc // ends background
}

// LoadPipeline loads a script that exports a pipeline. Each instance runs the script once. All instances run the same text:
// files are read and compiled once, when an instance first needs them. So are files that the script reads with module 'fs' or
// registers while it loads. Runs read files as they are then. LoadPipeline returns an error with its position if
// the script fails or exports no pipeline.
func (r *Runtime) LoadPipeline(ctx context.Context, path string, opts PipelineOptions) (*Pipeline, error) {
	p, err := r.loadPipeline(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// loadPipeline is LoadPipeline. After a failure of the script it also returns the pipeline, whose method files returns those
// that the script read.
func (r *Runtime) loadPipeline(ctx context.Context, path string, opts PipelineOptions) (*Pipeline, error) {
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, contract.Errorf(contract.InvalidArgument, "load pipeline", "the path of the script is empty")
	}
	opts.Engine.cache = esm.NewCache()
	opts.Engine.script = path
	opts.Engine.Name = cmp.Or(opts.Engine.Name, filepath.Base(path))
	if opts.Instances < 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "load pipeline", "Instances is %d", opts.Instances).
			WithHint("a positive number, or 0 for the default")
	}
	var err error
	if opts.Engine.placement, err = placement.New(placement.Wish{Prefer: opts.Prefer, Spread: opts.Devices}); err != nil {
		return nil, err
	}
	p := &Pipeline{rt: r, path: path, opts: opts, ended: make(chan struct{}), empty: make(chan struct{})}
	p.key = runKey{p}
	first, err := p.load(ctx, false)
	if err != nil {
		return p, err
	}
	p.declared = first.pipeline
	p.background, p.stop = context.WithCancel(context.Background())
	if p.opts.Instances == 0 {
		p.opts.Instances = max(min(runtime.NumCPU(), 4), p.width())
	}
	p.slots = make(chan struct{}, p.opts.Instances)
	first.busy = false
	p.idle = append(p.idle, first)
	return p, nil
}

// Run runs the pipeline once. in has a value per input: a slice of the input's element type, an [Array] for two or three
// dimensions, or a number. Two-dimensional bytes may be an [image.Gray], those of the shape [height, width, 4] an [image.NRGBA] or
// [image.RGBA]. It may have values of parameters: numbers, booleans or strings. out has a destination per requested output: a
// pointer to a slice, which may be reallocated, or to an [Array] or picture, whose shape is set, too. The caller must not access
// the slices until Run returns. Every output is zero before the script runs. If ctx ends or a limit is exceeded, the script and its
// kernels are stopped. If the script or a kernel fails, out is unchanged; an error in storing results leaves it unspecified. After
// Close the error is [ErrClosed].
//
// A Go function that the script calls may call Run with the context that it was passed. It is refused if it would wait for
// the run that called it.
func (p *Pipeline) Run(ctx context.Context, in, out Data) (failed error) {
	start, device := time.Now(), ""
	if err := p.usable(ctx); err != nil {
		return err
	}
	if trace.IsEnabled() {
		defer trace.StartRegion(ctx, "run "+filepath.Base(p.path)).End()
	}
	p.counts.begun.Add(1)
	defer func() {
		p.counts.end(start, failed)
		p.rt.observe(ctx, observe.Span{Kind: observe.Run, Device: device, Start: start, Err: failed, Refused: errors.Is(failed, ErrRefused)}, p)
	}()
	return p.run(ctx, in, out, &device)
}

// run runs the pipeline like Run, but reports no span, and does not count the begin and the end of the run. Unless device is nil, it
// sets device to the id of the device, and counts the run as running while it has an instance.
func (p *Pipeline) run(ctx context.Context, in, out Data, device *string) (failed error) {
	inputs, err := p.inputs(in)
	if err != nil {
		return pipelines.Refuse(p.named(err))
	}
	outputs, err := out.outputs()
	if err != nil {
		return pipelines.Refuse(p.named(err))
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer func() { <-p.slots }()
	i, err := p.take(ctx)
	if err != nil {
		return err
	}
	if device != nil {
		*device = i.device()
		p.counts.running.Add(1)
		defer p.counts.running.Add(-1)
	}
	i.runner.Store(goroutine.Current())
	defer func() { // also after a panic, such as one of a method of ctx
		i.runner.Store(0)
		p.giveBack(ctx, i, failed)
	}()
	failed = errPanic
	failed = i.pipeline.Run(ctx, p.key, inputs, outputs)
	return failed
}

// errPanic is the error of a run that ends by a panic; its instance is replaced.
var errPanic = errors.New("the run did not return")

// usable returns an error if the pipeline was not loaded or the context is nil.
func (p *Pipeline) usable(ctx context.Context) error {
	if !p.loaded() {
		return errNotLoaded
	}
	return diag.CheckContext(ctx)
}

// loaded reports whether LoadPipeline or Watch returned the pipeline.
func (p *Pipeline) loaded() bool { return p != nil && p.declared != nil }

var errNotLoaded = contract.Errorf(contract.InvalidArgument, "run", "the pipeline is none that LoadPipeline or Watch returned")

// runKey is the key of a context's value that marks the calls of a pipeline's run.
type runKey struct{ *Pipeline }

// enter takes a slot, for which it may wait. The caller ends its use by a receive from p.slots. enter fails if ctx or the
// pipeline ends, or if a run of the pipeline would wait for itself.
func (p *Pipeline) enter(ctx context.Context) error {
	select {
	case <-p.ended:
		return ErrClosed
	default:
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	if ctx.Value(p.key) != nil {
		return contract.Errorf(contract.InvalidArgument, "run", "a run of the pipeline %s runs it again while all %d instances are busy, and would wait for itself", filepath.Base(p.path), p.opts.Instances).
			WithHint("raise Instances, or call a second pipeline")
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-p.ended:
		return ErrClosed
	case <-ctx.Done():
		return lang.EndOf(ctx)
	}
}

// named adds the name of the pipeline's file to an error of the contract without a label, or to each such one of joined errors.
func (p *Pipeline) named(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			_ = p.named(one) // changes it in place
		}
	}
	if e, ok := err.(*contract.Error); ok && e.Label == "" {
		e.Label = filepath.Base(p.path)
	}
	return err
}

// ErrNoPipeline is the error of loading a script that exports no pipeline. [errors.Is] finds it.
var ErrNoPipeline = pipelines.ErrNone

// ErrRefused is the error of runs whose inputs, parameters or outputs do not fit the pipeline, which the script does not see.
// Runs also fail with it if the script throws an error with the code 'refused'. [errors.Is] finds it: the fault is the
// caller's, not the script's.
var ErrRefused = pipelines.ErrRefused

// ErrClosed is the error of runs of a closed pipeline.
var ErrClosed error = contract.Errorf(contract.Closed, "run", "the pipeline is closed")

// Close closes the pipeline and releases the buffers that no run uses. Current runs complete; waiting and later runs return
// [ErrClosed]. A second call of Close returns nil.
func (p *Pipeline) Close() error {
	if !p.loaded() { // nothing is open
		return nil
	}
	p.mu.Lock()
	if p.isEnded() {
		p.mu.Unlock()
		return nil
	}
	close(p.ended)
	if p.busy == 0 {
		close(p.empty)
	}
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var failed []error
	for _, i := range idle {
		failed = append(failed, p.close(i))
	}
	p.stop()
	if _, mine := p.rt.loads.Load(goroutine.Current()); !mine { // else a hook that gets the load closes it
		p.builds.Wait()
	}
	return errors.Join(failed...)
}

// Shutdown is Close, and then waits until the current runs have completed and released their buffers, or ctx ends. The error is
// Close's, or describes the end of ctx.
//
// A Go function that a run calls must not wait for that run. Its call of Shutdown is refused at once, and closes nothing. It is
// recognised by the context that it was passed, or by the goroutine of the run. It may call Close.
func (p *Pipeline) Shutdown(ctx context.Context) error {
	if err := p.usable(ctx); err != nil {
		return err
	}
	if p.calls(ctx) {
		return errOwnRun
	}
	err := p.Close()
	select {
	case <-p.empty:
		return err
	case <-ctx.Done():
		return errors.Join(err, stillRunning(ctx))
	}
}

// stillRunning describes the end of a context of Shutdown.
func stillRunning(ctx context.Context) error {
	d := lang.EndOf(ctx)
	d.Message, d.Hint = "runs went on when the context of Shutdown ended", "the pipeline is closed; end the contexts of its runs, or wait longer"
	return d
}

// errOwnRun is the error of a function that a run calls and that would wait for the run.
var errOwnRun = contract.Errorf(contract.InvalidArgument, "shutdown", "a function that a run of the pipeline calls would wait for the run").
	WithHint("call Close, which does not wait; or call Shutdown on another goroutine, with a context that is not the run's")

// calls reports whether a run of p waits for the caller. The caller is then a function that the run calls, found by ctx or the
// goroutine, or a hook during a load for the run.
func (p *Pipeline) calls(ctx context.Context) bool {
	if ctx.Value(p.key) != nil {
		return true
	}
	me := goroutine.Current()
	p.mu.Lock()
	defer p.mu.Unlock()
	if of, _ := p.rt.loads.Load(me); of == p {
		return true
	}
	return slices.ContainsFunc(p.live, func(i *instance) bool { return i.runner.Load() == me })
}

// Data are the inputs and parameters of a run, or its outputs, by name.
type Data map[string]any

// Array is data with one to three dimensions in row-major order.
type Array[T Element] struct {
	Data  []T
	Shape []int // extents, outermost first; nil in an input: one dimension
}

// Element is a Go type of buffer elements. Booleans and records are stored as bytes, half floats as their bits in uint16.
type Element interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// inputs converts d to the inputs of a run, sorted by name. The error has every value that is nil or has a wrong type or a negative
// extent, and every picture with too few bytes.
func (p *Pipeline) inputs(d Data) ([]pipelines.Input, error) {
	list := make([]pipelines.Input, 0, len(d))
	for name, value := range d {
		if one, err := inputOf(name, value); err == nil {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b pipelines.Input) int { return strings.Compare(a.Name, b.Name) })
	if len(list) == len(d) {
		return list, nil
	}
	var failed []error
	for _, name := range sortedKeys(d) {
		_, err := inputOf(name, d[name])
		if e, ok := err.(*contract.Error); ok && e.Code == contract.InvalidArgument {
			if wanted := p.wanted(name); wanted != "" {
				e.Detail += ": expected " + wanted
			}
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return nil, oneOf(failed)
}

// goElements maps element types to Go types. Booleans and records, which are not in it, are held as bytes.
var goElements = map[string]string{"f64": "float64", "f32": "float32", "f16": "uint16", "bf16": "uint16", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64"}

// wanted describes the Go values of an input or parameter, or returns "" for a name that is not declared.
func (p *Pipeline) wanted(name string) string {
	number := func(typ string) string {
		switch typ {
		case "string":
			return "a string"
		case "bool":
			return "a bool"
		}
		return "a number"
	}
	for _, at := range p.Params() {
		if at.Name == name {
			return number(at.Type)
		}
	}
	for _, at := range p.Inputs() {
		if at.Name != name {
			continue
		}
		elem := cmp.Or(goElements[at.Type], "uint8")
		switch {
		case at.Rank == 0:
			return number(at.Type)
		case at.Rank == 1:
			return "[]" + elem
		case at.Type == "u8" && at.Rank == 2:
			return "an *image.Gray or an orepl.Array[uint8] with 2 extents"
		case at.Type == "u8":
			return "an *image.NRGBA, an *image.RGBA or an orepl.Array[uint8] with 3 extents"
		}
		return fmt.Sprintf("an orepl.Array[%s] with %d extents", elem, at.Rank)
	}
	return ""
}

func inputOf(name string, value any) (pipelines.Input, error) {
	in := pipelines.Input{Name: name}
	if p, ok := pictureOf(value); ok {
		err := p.check(name)
		if err == nil {
			p.input(&in)
		}
		return in, err
	}
	if isNil(value) { // also a nil *Array
		return in, contract.Errorf(contract.InvalidArgument, "run", "the input %q is nil", name).WithHint("leave it out for the default of a parameter")
	}
	switch x := value.(type) {
	case source:
		x.input(&in)
	default:
		var ok bool
		if in.Number, ok = numberOf(x); ok {
			break
		}
		if in.Type, in.Data, in.Dims, ok = sliceOf(x); !ok {
			e := contract.Errorf(contract.InvalidArgument, "run", "the input %q cannot be of type %T", name, x)
			if _, isImage := x.(image.Image); isImage {
				return in, e.WithHint("copy it to an *image.NRGBA or *image.Gray with draw.Draw of image/draw")
			}
			if _, isDestination := destinationOf(x); isDestination {
				return in, e.WithHint("give the slice itself, without &")
			}
			return in, e.WithHint("give a slice of numbers, an orepl.Array, an *image.Gray or *image.NRGBA, a number or a boolean")
		}
	}
	if slices.ContainsFunc(in.Dims, func(n int) bool { return n < 0 }) {
		return in, contract.Errorf(contract.InvalidSize, "run", "the input %q has the shape %v", name, in.Dims)
	}
	return in, nil
}

// outputs converts d to the outputs of a run, sorted by name. The error has every value whose type does not fit.
func (d Data) outputs() ([]pipelines.Output, error) {
	list := make([]pipelines.Output, 0, len(d))
	for name, value := range d {
		if one, err := outputOf(name, value); err == nil {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b pipelines.Output) int { return strings.Compare(a.Name, b.Name) })
	if len(list) == len(d) {
		return list, nil
	}
	var failed []error
	for _, name := range sortedKeys(d) {
		if _, err := outputOf(name, d[name]); err != nil {
			failed = append(failed, err)
		}
	}
	return nil, oneOf(failed)
}

func outputOf(name string, value any) (pipelines.Output, error) {
	out := pipelines.Output{Name: name}
	if isNil(value) {
		return out, contract.Errorf(contract.InvalidArgument, "run", "the output %q is a nil pointer", name).WithHint("give the address of a variable, or leave the output out")
	}
	x, ok := value.(destination)
	if !ok {
		x, ok = destinationOf(value)
	}
	if ok {
		x.output(&out)
		return out, nil
	}
	_, isArray := value.(source)
	if _, _, _, isSlice := sliceOf(value); isArray || isSlice {
		return out, contract.Errorf(contract.InvalidArgument, "run", "the output %q cannot be stored in a value of type %T: give its address, &%s", name, value, name)
	}
	return out, contract.Errorf(contract.InvalidArgument, "run", "the output %q cannot be of type %T", name, value).WithHint("give a pointer to a slice of numbers, to an orepl.Array or to an image.Gray or image.NRGBA")
}

// isNil reports whether a value is nil or a nil pointer.
func isNil(x any) bool {
	v := reflect.ValueOf(x)
	return x == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// oneOf returns nil, the only error, or all errors joined.
func oneOf(failed []error) error {
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}

// numberOf converts a number, boolean or string of any Go type to the form of [pipelines.Input]. It returns false for any other
// value and for a nil *big.Int.
func numberOf(x any) (any, bool) {
	if n, ok := x.(*big.Int); ok {
		return n, n != nil
	}
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > math.MaxInt64 {
			return new(big.Int).SetUint64(v.Uint()), true
		}
		return int64(v.Uint()), true
	case reflect.Float32, reflect.Float64:
		return v.Float(), true
	case reflect.Bool:
		return v.Bool(), true
	case reflect.String:
		return v.String(), true
	}
	return nil, false
}

var errNilPointer = fmt.Errorf("the pointer is nil")
