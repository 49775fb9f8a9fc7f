package offloadjs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/pool"
	"github.com/orepl/orepl/runtime/session"
)

// poolObject runs functions of the script, each with a device and a queue that are its own while it runs.
type poolObject struct {
	m       *instance
	devices []*session.Device
	idle    [][]*session.Queue // per device, queues whose task has ended
	retired []*session.Queue   // of tasks that were given up
	tasks   *pool.Pool[*poolTask]
	closed  bool
	posted  bool // dispatch is queued on the event loop
}

// poolTask is a call of run, or an item of map.
type poolTask struct {
	call   func(slot *goja.Object) (goja.Value, error)
	done   func(goja.Value, error)
	batch  *poolBatch // nil of run
	member int        // that runs it
	queue  *session.Queue
	clean  bool // when it began, no command on the device's default queue had failed
	runs   bool // it takes a place of the member
	ended  bool
}

// poolBatch is a call of map.
type poolBatch struct {
	settle  *lang.Settler
	tasks   []*poolTask
	results []any
	left    int   // tasks that have not ended
	err     error // the first failure; what waits was withdrawn
}

// poolTasks is the default number of concurrent tasks of a device: one computes while another copies.
const poolTasks = 2

// newPool is pool(devices?, { tasks }?).
func (m *instance) newPool(call goja.FunctionCall) (goja.Value, error) {
	const op = "pool"
	devices, err := m.poolDevices(op, call.Argument(0))
	if err != nil {
		return nil, err
	}
	if len(devices) == 0 {
		return nil, contract.Errorf(contract.NotFound, op, "there are no devices")
	}
	o := m.newOptions(op, call.Argument(1), "tasks")
	width := poolTasks
	if o.get("tasks") != nil {
		if width = o.count("tasks"); width == 0 {
			o.fail("tasks must be a number from 1 on")
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return m.pool.New(&poolObject{m: m, devices: devices, idle: make([][]*session.Queue, len(devices)),
		tasks: pool.New[*poolTask](len(devices), width)}), nil
}

// poolDevices reads an array of devices and ids; undefined is all devices.
func (m *instance) poolDevices(op string, v goja.Value) ([]*session.Device, error) {
	if goja.IsUndefined(v) {
		list := m.env.session.Devices(m.engine.Running())
		m.warnUnreached()
		return list, nil
	}
	list, isObject := v.(*goja.Object)
	if !isObject || list.ClassName() != "Array" {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected an array of devices, not %s", convert.Describe(v)).
			WithHint("write pool(['cpu', 'gpu']), or pool() for all devices")
	}
	var devices []*session.Device
	var failed error
	m.vm.ForOf(list, func(item goja.Value) bool {
		found, err := m.findDevice(goja.FunctionCall{Arguments: []goja.Value{item}})
		if err != nil {
			failed = err
			return false
		}
		d := m.asDevice(found)
		if slices.Contains(devices, d) {
			failed = contract.Errorf(contract.InvalidArgument, op, "the device %s is named twice", d.ID())
			return false
		}
		devices = append(devices, d)
		return true
	})
	return devices, failed
}

// runInPool implements pool.run(task, { near }?): a promise of the task's result.
func (m *instance) runInPool(p *poolObject, call goja.FunctionCall) (goja.Value, error) {
	const op = "run"
	fn, err := p.function(op, call.Argument(0))
	if err != nil {
		return nil, err
	}
	o := m.newOptions(op, call.Argument(1), "near")
	near := o.get("near")
	if o.err != nil {
		return nil, o.err
	}
	member, err := p.memberNear(op, near)
	if err != nil {
		return nil, err
	}
	promise, settle := m.engine.Promise("task of a pool")
	t := &poolTask{call: func(slot *goja.Object) (goja.Value, error) { return fn(goja.Undefined(), slot) }}
	t.done = func(v goja.Value, err error) {
		if err != nil {
			settle.Reject(err)
			return
		}
		settle.Resolve(func() (goja.Value, error) { return v, nil })
	}
	settle.OnCancel(func(error) { m.engine.Post(func() error { p.giveUp(t); return nil }) })
	p.push(t, member)
	return promise, nil
}

// mapInPool implements pool.map(items, task, { near }?): a promise of the task's results in the order of the items.
func (m *instance) mapInPool(p *poolObject, call goja.FunctionCall) (goja.Value, error) {
	const op = "map"
	items, isObject := call.Argument(0).(*goja.Object)
	if !isObject {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected items, such as an array, not %s", convert.Describe(call.Argument(0)))
	}
	fn, err := p.function(op, call.Argument(1))
	if err != nil {
		return nil, err
	}
	o := m.newOptions(op, call.Argument(2), "near")
	near := o.get("near")
	if o.err != nil {
		return nil, o.err
	}
	nearOf, perItem := goja.AssertFunction(near)
	b := &poolBatch{}
	var members []int
	var failed error
	m.vm.ForOf(items, func(item goja.Value) bool {
		index := len(b.tasks)
		at := near
		if perItem {
			if at, failed = nearOf(goja.Undefined(), item, m.vm.ToValue(index)); failed != nil {
				return false
			}
		}
		var member int
		if member, failed = p.memberNear(op, at); failed != nil {
			return false
		}
		t := &poolTask{batch: b}
		t.call = func(slot *goja.Object) (goja.Value, error) {
			return fn(goja.Undefined(), item, slot, m.vm.ToValue(index))
		}
		t.done = func(v goja.Value, err error) { p.itemEnded(b, index, v, err) }
		b.tasks, members = append(b.tasks, t), append(members, member)
		return true
	})
	if failed != nil {
		return nil, failed
	}
	b.results, b.left = make([]any, len(b.tasks)), len(b.tasks)
	var promise goja.Value
	promise, b.settle = m.engine.Promise("tasks of a pool")
	b.settle.OnCancel(func(error) { m.engine.Post(func() error { p.giveUp(b.tasks...); return nil }) })
	if len(b.tasks) == 0 {
		p.finish(b)
	}
	for i, t := range b.tasks {
		p.push(t, members[i])
	}
	return promise, nil
}

func (p *poolObject) function(op string, v goja.Value) (goja.Callable, error) {
	if p.closed {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the pool is closed")
	}
	fn, ok := goja.AssertFunction(v)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected a function that runs a task, not %s", convert.Describe(v)).
			WithHint("write %s", map[string]string{"run": "pool.run(async ({ device, queue }) => { … })", "map": "pool.map(items, async (item, { device, queue }) => { … })"}[op])
	}
	return fn, nil
}

// memberNear returns the member that holds most bytes of the option near: a device, its id, a buffer, or an array of
// buffers. Buffers on devices outside the pool count for none.
func (p *poolObject) memberNear(op string, v goja.Value) (int, error) {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return pool.Anywhere, nil
	}
	wrong := func() error {
		return contract.Errorf(contract.InvalidArgument, op, "near must be a buffer, an array of buffers or a device, not %s", convert.Describe(v))
	}
	if id, ok := exported(v).(string); ok || p.m.asDevice(v) != nil {
		d := p.m.asDevice(v)
		if ok {
			found, err := p.m.env.session.Device(p.m.engine.Running(), id)
			if err != nil {
				return 0, err
			}
			d = found
		}
		return slices.Index(p.devices, d), nil
	}
	bytes := make([]int64, len(p.devices))
	add := func(v goja.Value) bool {
		b := p.m.asBuffer(v)
		if b == nil {
			return false
		}
		if at := slices.Index(p.devices, b.Device()); at >= 0 {
			bytes[at] += max(int64(b.Size()), 1)
		}
		return true
	}
	if !add(v) {
		list, isObject := v.(*goja.Object)
		if !isObject || list.ClassName() != "Array" {
			return 0, wrong()
		}
		all := true
		p.m.vm.ForOf(list, func(item goja.Value) bool { all = add(item); return all })
		if !all {
			return 0, wrong()
		}
	}
	best := pool.Anywhere
	for i, n := range bytes {
		if n > 0 && (best == pool.Anywhere || n > bytes[best]) {
			best = i
		}
	}
	return best, nil
}

func (p *poolObject) push(t *poolTask, member int) {
	p.tasks.Push(t, member)
	p.dispatchSoon()
}

// dispatchSoon begins tasks in a turn of its own, so that none runs inside of the call that made it.
func (p *poolObject) dispatchSoon() {
	if p.posted {
		return
	}
	p.posted = true
	p.m.engine.Post(func() error {
		p.posted = false
		p.dispatch()
		return nil
	})
}

// dispatch begins all tasks that can begin.
func (p *poolObject) dispatch() {
	for i, d := range p.devices {
		if d.IsLost() {
			p.lose(i)
		}
	}
	if p.tasks.Alive() == 0 {
		for _, t := range p.tasks.Withdraw(func(*poolTask) bool { return true }) {
			t.done(nil, p.m.explain(contract.Errorf(contract.DeviceLost, "pool", "every device of the pool has been lost").
				WithHint("run the script again, with more workers if one of them may end")))
		}
		return
	}
	for {
		t, member, ok := p.tasks.Next()
		if !ok {
			return
		}
		t.member, t.runs = member, true
		p.begin(t)
	}
}

// begin calls a task. Its place is free again when the promise that it returns has settled.
func (p *poolObject) begin(t *poolTask) {
	slot, err := p.slot(t)
	err = p.m.explain(err)
	var v goja.Value
	if err == nil {
		v, err = t.call(slot)
	}
	if err != nil {
		p.end(t, nil, err)
		return
	}
	result := p.m.engine.Resolved(v)
	promise, _ := promiseOf(result)
	p.m.engine.Settled(result, func(err error) { p.end(t, promise.Result(), err) })
}

// slot returns the object { device, queue } of a task.
func (p *poolObject) slot(t *poolTask) (*goja.Object, error) {
	d := p.devices[t.member]
	if idle := p.idle[t.member]; len(idle) > 0 {
		t.queue = idle[len(idle)-1]
		p.idle[t.member] = idle[:len(idle)-1]
	} else {
		q, err := d.NewQueue(session.QueueOptions{Label: fmt.Sprintf("pool on %s", d.ID())})
		if err != nil {
			return nil, err
		}
		t.queue = q
	}
	q, err := p.m.defaultQueue(d)
	t.clean = err == nil && q.Failure() == nil
	slot := p.m.vm.NewObject()
	if err := slot.Set("device", p.m.deviceObject(d)); err != nil {
		return nil, err
	}
	return slot, slot.Set("queue", p.m.queueObject(t.queue))
}

// end settles a task, or lets it run elsewhere if its device was lost.
func (p *poolObject) end(t *poolTask, v goja.Value, err error) {
	if t.ended {
		return
	}
	if p.lostBy(t, err) && (t.batch == nil || t.batch.err == nil) {
		p.again(t)
		return
	}
	p.leave(t, err == nil)
	if t.queue != nil {
		p.idle[t.member] = append(p.idle[t.member], t.queue)
		t.queue = nil
	}
	t.ended = true
	t.done(v, err)
	p.dispatchSoon()
}

// leave frees the place of a task, if it has one. The device counts tasks that ended well.
func (p *poolObject) leave(t *poolTask, well bool) {
	if t.runs {
		t.runs = false
		p.tasks.End(t.member, well)
	}
}

// again lets a task run elsewhere when its commands on the lost device have ended. Their failures are not reported.
func (p *poolObject) again(t *poolTask) {
	m, d := p.m, p.devices[t.member]
	var shared *session.Queue
	if t.clean {
		shared, _ = m.defaultQueue(d)
	}
	restart := func() error {
		if t.ended { // given up
			return nil
		}
		if shared != nil && contract.CodeOf(shared.Failure()) == contract.DeviceLost {
			_ = shared.Sync(m.engine.Running())
		}
		if t.queue != nil {
			_ = m.closeQueue(t.queue)
			t.queue = nil
		}
		p.leave(t, false)
		p.tasks.Again(t)
		p.dispatchSoon()
		return nil
	}
	go func(ctx context.Context, own *session.Queue) {
		for _, q := range []*session.Queue{own, shared} {
			if q != nil {
				_ = q.Settle(ctx) // the loop does not wait for the notice of the loss
			}
		}
		m.engine.Post(restart)
	}(m.engine.Running(), t.queue)
}

// lose takes a device out, and warns of it if the tasks go on elsewhere.
func (p *poolObject) lose(member int) {
	if p.tasks.Members()[member].Lost {
		return
	}
	p.tasks.Lose(member)
	if p.tasks.Alive() > 0 {
		p.m.engine.WarnAgain(fmt.Sprintf("%s has been lost: the pool runs its tasks on other devices", p.devices[member].ID()), "")
	}
}

// lostBy reports whether a task failed, or a command on its queue, because its device was lost. The error may come before the
// device's own notice.
func (p *poolObject) lostBy(t *poolTask, err error) bool {
	d := p.devices[t.member]
	if err == nil && t.queue != nil && d.IsLost() {
		err = t.queue.Failure()
	}
	err = p.m.engine.Unthrown(err)
	if contract.CodeOf(err) != contract.DeviceLost {
		return false
	}
	var e *contract.Error
	if !d.IsLost() && (!errors.As(err, &e) || e.Device != d.ID()) {
		return false
	}
	p.lose(t.member)
	return true
}

// itemEnded keeps an item's result. The first failure withdraws the items that wait; the promise is rejected with it when those
// that run have ended.
func (p *poolObject) itemEnded(b *poolBatch, index int, v goja.Value, err error) {
	b.left--
	if err == nil {
		b.results[index] = v
	} else if b.err == nil {
		b.err = err
		p.drop(b)
	}
	if b.left == 0 {
		p.finish(b)
	}
}

func (p *poolObject) drop(b *poolBatch) {
	b.left -= len(p.tasks.Withdraw(func(t *poolTask) bool { return t.batch == b }))
}

// giveUp forgets tasks whose promises the engine waits for no longer, after Ctrl-C for instance.
func (p *poolObject) giveUp(tasks ...*poolTask) {
	p.tasks.Withdraw(func(t *poolTask) bool { return slices.Contains(tasks, t) })
	for _, t := range tasks {
		if p.leave(t, false); t.queue != nil && !t.ended {
			p.retired = append(p.retired, t.queue)
		}
		t.ended = true
	}
	p.dispatchSoon()
}

func (p *poolObject) finish(b *poolBatch) {
	if b.err != nil {
		b.settle.Reject(b.err)
		return
	}
	b.settle.Resolve(func() (goja.Value, error) { return p.m.vm.NewArray(b.results...), nil })
}

// poolStatus is pool.devices: what each device did.
func (m *instance) poolStatus(p *poolObject) (goja.Value, error) {
	var list []any
	for i, member := range p.tasks.Members() {
		row := m.vm.NewObject()
		for _, f := range []struct {
			name  string
			value any
		}{{"device", p.devices[i].ID()}, {"running", member.Running}, {"done", member.Done}, {"stolen", member.Stolen},
			{"lost", member.Lost || p.devices[i].IsLost()}} {
			if err := row.Set(f.name, f.value); err != nil {
				return nil, err
			}
		}
		list = append(list, row)
	}
	return m.vm.NewArray(list...), nil
}

// closePool is pool.close(): it ends the queues. Tasks must have ended.
func (m *instance) closePool(p *poolObject) error {
	busy := p.tasks.Waiting()
	for _, member := range p.tasks.Members() {
		busy += member.Running
	}
	if busy > 0 {
		return contract.Errorf(contract.InvalidArgument, "close", "%d tasks of the pool have not ended", busy).WithHint("await what run and map returned")
	}
	p.closed = true
	var first error
	for _, q := range append(slices.Concat(p.idle...), p.retired...) {
		if err := m.closeQueue(q); err != nil && first == nil && contract.CodeOf(err) != contract.DeviceLost {
			first = err
		}
	}
	clear(p.idle)
	p.retired = nil
	return first
}

func inspectPool(p *poolObject) string {
	ids := make([]string, len(p.devices))
	for i, d := range p.devices {
		ids[i] = d.ID()
		if p.tasks.Members()[i].Lost {
			ids[i] += " (lost)"
		}
	}
	return fmt.Sprintf("Pool on %s, %d tasks wait", strings.Join(ids, ", "), p.tasks.Waiting())
}

func (m *instance) definePool() {
	m.pool = lang.NewClass(m.engine, lang.ClassSpec[*poolObject]{
		Name: "Pool",
		Methods: []lang.Method[*poolObject]{
			promised(m, "run", m.runInPool),
			promised(m, "map", m.mapInPool),
			method(m, "close", func(p *poolObject, _ goja.FunctionCall) (goja.Value, error) { return nil, m.closePool(p) }),
		},
		Fields:  []lang.Field[*poolObject]{field(m, "devices", m.poolStatus)},
		Inspect: func(p *poolObject, _ inspect.Options) string { return inspectPool(p) },
		Dispose: func(p *poolObject) error { return m.explain(m.closePool(p)) },
	})
}
