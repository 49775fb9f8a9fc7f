package multi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/pool"
	"github.com/orepl/orepl/runtime/session"
)

// poolObject runs functions of the script as tasks. Each running task has a device of the pool, and a queue of its own on it.
type poolObject struct {
	m       *Module
	devices []*session.Device
	idle    [][]*session.Queue // queues of completed tasks, per device
	retired []*session.Queue   // queues of abandoned tasks, and those with a failure that their task has not awaited
	tasks   *pool.Pool[*poolTask]
	closed  bool
	grows   bool // workers that join add devices
	posted  bool // a call of dispatch is queued on the event loop
}

// poolTask is one call of pool.run, or one item of pool.map.
type poolTask struct {
	call   func(slot *goja.Object) (goja.Value, error)
	done   func(goja.Value, error)
	batch  *poolBatch // nil for pool.run
	member int        // index of the device that runs the task
	queue  *session.Queue
	clean  bool // at the start, the device's default queue had no pending failure
	runs   bool // the member counts the task as running
	ended  bool
}

// poolBatch is one call of pool.map.
type poolBatch struct {
	settle  *lang.Settler
	tasks   []*poolTask
	results []any
	left    int   // number of tasks that have not completed
	err     error // the first failure
}

// poolTasks is the default number of concurrent tasks per device: one computes while the other copies.
const poolTasks = 2

// NewPool implements pool(devices?, { tasks, join }?).
func (m *Module) NewPool(call goja.FunctionCall) (goja.Value, error) {
	const op = "pool"
	devices, err := m.poolDevices(op, call.Argument(0))
	if err != nil {
		return nil, err
	}
	o := m.Options.Parse(op, call.Argument(1), "tasks", "join")
	width := poolTasks
	if o.Get("tasks") != nil {
		if width = o.Integer("tasks"); width == 0 {
			o.Fail("tasks must be a number from 1 on")
		}
	}
	join := o.Bool("join", goja.IsUndefined(call.Argument(0)))
	if o.Err != nil {
		return nil, o.Err
	}
	p := &poolObject{m: m, devices: devices, idle: make([][]*session.Queue, len(devices)), tasks: pool.New[*poolTask](len(devices), width)}
	if join {
		if err := m.joins(p, o.Get("join") != nil); err != nil {
			return nil, err
		}
	}
	if len(p.devices) == 0 && !p.grows {
		return nil, contract.Errorf(contract.NotFound, op, "there are no devices")
	}
	return m.pool.New(p), nil
}

// poolDevices parses an array of devices and ids. Undefined means all devices, each processor of a process once.
func (m *Module) poolDevices(op string, v goja.Value) ([]*session.Device, error) {
	if goja.IsUndefined(v) {
		list := m.host.Reach().Devices(m.Engine.Running())
		m.host.WarnUnreached()
		return pool.Distinct(list), nil
	}
	list, isObject := v.(*goja.Object)
	if !isObject || list.ClassName() != "Array" {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected an array of devices, not %s", convert.Describe(v)).
			WithHint("write pool(['cpu', 'gpu']), or pool() for all devices")
	}
	var devices []*session.Device
	var failed error
	m.VM.ForOf(list, func(item goja.Value) bool {
		d, err := m.host.FindDevice(item)
		if err != nil {
			failed = err
			return false
		}
		if slices.Contains(devices, d) {
			failed = contract.Errorf(contract.InvalidArgument, op, "the device %s is named twice", d.ID())
			return false
		}
		devices = append(devices, d)
		return true
	})
	return devices, failed
}

// runInPool implements pool.run(task, { near }?), which returns a promise of the task's result.
func (m *Module) runInPool(p *poolObject, call goja.FunctionCall) (goja.Value, error) {
	const op = "run"
	fn, err := p.function(op, call.Argument(0))
	if err != nil {
		return nil, err
	}
	o := m.Options.Parse(op, call.Argument(1), "near")
	near := o.Get("near")
	if o.Err != nil {
		return nil, o.Err
	}
	member, err := p.memberNear(op, near)
	if err != nil {
		return nil, err
	}
	if err := p.open(op); err != nil { // a getter of the options has closed it
		return nil, err
	}
	promise, settle := m.Engine.Promise("task of a pool")
	t := &poolTask{call: func(slot *goja.Object) (goja.Value, error) { return fn(goja.Undefined(), slot) }}
	t.done = func(v goja.Value, err error) {
		if err != nil {
			settle.Reject(err)
			return
		}
		settle.Resolve(func() (goja.Value, error) { return v, nil })
	}
	settle.OnCancel(func(error) { m.Engine.Post(func() error { p.abandon(t); return nil }) })
	p.push(t, member)
	return promise, nil
}

// mapInPool implements pool.map(items, task, { near }?), which returns a promise of the results in the order of the items.
func (m *Module) mapInPool(p *poolObject, call goja.FunctionCall) (goja.Value, error) {
	const op = "map"
	items, isObject := call.Argument(0).(*goja.Object)
	if !isObject {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected items, such as an array, not %s", convert.Describe(call.Argument(0)))
	}
	fn, err := p.function(op, call.Argument(1))
	if err != nil {
		return nil, err
	}
	o := m.Options.Parse(op, call.Argument(2), "near")
	near := o.Get("near")
	if o.Err != nil {
		return nil, o.Err
	}
	nearOf, perItem := goja.AssertFunction(near)
	b := &poolBatch{}
	var members []int
	var failed error
	m.VM.ForOf(items, func(item goja.Value) bool {
		index := len(b.tasks)
		at := near
		if perItem {
			if at, failed = nearOf(goja.Undefined(), item, m.VM.ToValue(index)); failed != nil {
				return false
			}
		}
		var member int
		if member, failed = p.memberNear(op, at); failed != nil {
			return false
		}
		t := &poolTask{batch: b}
		t.call = func(slot *goja.Object) (goja.Value, error) {
			return fn(goja.Undefined(), item, slot, m.VM.ToValue(index))
		}
		t.done = func(v goja.Value, err error) { p.itemEnded(b, index, v, err) }
		b.tasks, members = append(b.tasks, t), append(members, member)
		return true
	})
	if failed == nil {
		failed = p.open(op) // the items may have closed it
	}
	if failed != nil {
		return nil, failed
	}
	b.results, b.left = make([]any, len(b.tasks)), len(b.tasks)
	var promise goja.Value
	promise, b.settle = m.Engine.Promise("tasks of a pool")
	b.settle.OnCancel(func(error) { m.Engine.Post(func() error { p.abandon(b.tasks...); return nil }) })
	if len(b.tasks) == 0 {
		p.finish(b)
	}
	for i, t := range b.tasks {
		p.push(t, members[i])
	}
	return promise, nil
}

// open returns an error if the pool is closed.
func (p *poolObject) open(op string) error {
	if p.closed {
		return contract.Errorf(contract.InvalidArgument, op, "the pool is closed")
	}
	return nil
}

func (p *poolObject) function(op string, v goja.Value) (goja.Callable, error) {
	if err := p.open(op); err != nil {
		return nil, err
	}
	fn, ok := goja.AssertFunction(v)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected a function that runs a task, not %s", convert.Describe(v)).
			WithHint("write %s", map[string]string{"run": "pool.run(async ({ device, queue }) => { … })", "map": "pool.map(items, async (item, { device, queue }) => { … })"}[op])
	}
	return fn, nil
}

// memberNear parses the option near: a device, its id, a buffer, or an array of buffers. It returns the member of the device, or the
// one that holds most of the buffers' bytes. It returns pool.Anywhere without the option, and if no named device or buffer is in
// the pool.
func (p *poolObject) memberNear(op string, v goja.Value) (int, error) {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return pool.Anywhere, nil
	}
	wrong := func() error {
		return contract.Errorf(contract.InvalidArgument, op, "near must be a buffer, an array of buffers or a device, not %s", convert.Describe(v))
	}
	if id, ok := element.Exported(v).(string); ok || p.m.host.Device(v) != nil {
		d := p.m.host.Device(v)
		if ok {
			found, err := p.m.host.Reach().Device(p.m.Engine.Running(), id)
			if err != nil {
				return 0, err
			}
			d = found
		}
		return slices.Index(p.devices, d), nil
	}
	bytes := make([]int64, len(p.devices))
	add := func(v goja.Value) bool {
		b, ok := p.m.host.Elements(v)
		if !ok {
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
		p.m.VM.ForOf(list, func(item goja.Value) bool { all = add(item); return all })
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

// dispatchSoon posts dispatch to the event loop, so that no task runs within the call that created it.
func (p *poolObject) dispatchSoon() {
	if p.posted {
		return
	}
	p.posted = true
	p.m.Engine.Post(func() error {
		p.posted = false
		p.dispatch()
		return nil
	})
}

// dispatch removes lost devices and starts all tasks that a member has capacity for. If no device remains and none can join, it
// fails the waiting tasks.
func (p *poolObject) dispatch() {
	for i, d := range p.devices {
		if d.IsLost() {
			p.lose(i)
		}
	}
	if p.tasks.Alive() == 0 && !p.grows {
		for _, t := range p.tasks.Withdraw(func(*poolTask) bool { return true }) {
			t.done(nil, p.m.Explain(contract.Errorf(contract.DeviceLost, "pool", "every device of the pool has been lost").
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

// begin starts a task. The task occupies its slot until the promise that its function returns has settled.
func (p *poolObject) begin(t *poolTask) {
	slot, err := p.slot(t)
	err = p.m.Explain(err)
	var v goja.Value
	if err == nil {
		v, err = t.call(slot)
	}
	if err != nil {
		p.end(t, nil, err)
		return
	}
	result := p.m.Engine.Resolved(v)
	promise, _ := element.Promise(result)
	p.m.Engine.Settled(result, func(err error) { p.end(t, promise.Result(), err) })
}

// slot chooses an idle queue for the task, or makes one, and returns the task's argument, an object { device, queue }. It sets
// t.queue and t.clean.
func (p *poolObject) slot(t *poolTask) (*goja.Object, error) {
	d := p.devices[t.member]
	if t.queue = p.reuse(t.member); t.queue == nil {
		q, err := d.NewQueue(session.QueueOptions{Label: fmt.Sprintf("pool on %s", d.ID()), Owner: p.m.host.Owner()})
		if err != nil {
			return nil, err
		}
		t.queue = q
	}
	q, err := p.m.host.DefaultQueue(d)
	t.clean = err == nil && q.Failure() == nil
	slot := p.m.VM.NewObject()
	if err := slot.Set("device", p.m.host.DeviceObject(d)); err != nil {
		return nil, err
	}
	return slot, slot.Set("queue", p.m.host.QueueObject(t.queue))
}

// busyQueues is the maximum number of queues of a member that are kept for commands that tasks have not awaited.
const busyQueues = 16

// reuse returns a queue of an ended task, or nil if a new one has to be made. Failures of commands that a task has not awaited
// must not reach another task. So a queue with a failure is retired, and one with pending commands is kept until they have run;
// only beyond busyQueues of them, reuse returns the oldest.
func (p *poolObject) reuse(member int) (q *session.Queue) {
	list := p.idle[member]
	p.idle[member] = nil
	for i := len(list) - 1; i >= 0; i-- {
		idle := list[i].Idle() // before the failure, which a pending command may still add
		switch {
		case session.Closed(list[i]): // by the task
		case list[i].Failure() != nil:
			p.retired = append(p.retired, list[i])
		case idle && q == nil:
			q = list[i]
		default:
			p.idle[member] = append(p.idle[member], list[i])
		}
	}
	slices.Reverse(p.idle[member])
	if q == nil && len(p.idle[member]) > busyQueues {
		q = p.idle[member][0]
		p.idle[member] = p.idle[member][1:]
	}
	return q
}

// end settles a task unless it has ended. If its device was lost, it queues the task again instead, except after a failure of its
// batch.
func (p *poolObject) end(t *poolTask, v goja.Value, err error) {
	if t.ended {
		return
	}
	if p.lostBy(t, err) && (t.batch == nil || t.batch.err == nil) {
		p.retry(t)
		return
	}
	p.release(t, err == nil)
	if t.queue != nil {
		p.idle[t.member] = append(p.idle[t.member], t.queue)
		t.queue = nil
	}
	t.ended = true
	t.done(v, err)
	p.dispatchSoon()
}

// release releases the slot of a task, if any. If succeeded is set, the member counts the task as done.
func (p *poolObject) release(t *poolTask, succeeded bool) {
	if t.runs {
		t.runs = false
		p.tasks.End(t.member, succeeded)
	}
}

// retry queues a task again once its commands on the lost device have ended. The failures of these commands are not reported.
func (p *poolObject) retry(t *poolTask) {
	m, d := p.m, p.devices[t.member]
	var shared *session.Queue
	if t.clean {
		shared, _ = m.host.DefaultQueue(d)
	}
	restart := func() error {
		if t.ended { // abandoned in the meantime
			return nil
		}
		if shared != nil && contract.CodeOf(shared.Failure()) == contract.DeviceLost {
			_ = shared.Sync(m.Engine.Running())
		}
		if t.queue != nil {
			_ = m.host.CloseQueue(t.queue)
			t.queue = nil
		}
		p.release(t, false)
		p.tasks.Requeue(t)
		p.dispatchSoon()
		return nil
	}
	go func(ctx context.Context, own *session.Queue) {
		for _, q := range []*session.Queue{own, shared} {
			if q != nil {
				_ = q.Settle(ctx) // wait here, since the event loop must not block
			}
		}
		m.Engine.Post(restart)
	}(m.Engine.Running(), t.queue)
}

// lose removes a device from the pool, unless that has been done. It warns if other devices remain or may join.
func (p *poolObject) lose(member int) {
	if p.tasks.Members()[member].Lost {
		return
	}
	p.tasks.Lose(member)
	switch {
	case p.tasks.Alive() > 0:
		p.m.Engine.WarnAlways(fmt.Sprintf("%s has been lost: the pool runs its tasks on other devices", p.devices[member].ID()), "")
	case p.grows:
		p.m.Engine.WarnAlways(fmt.Sprintf("%s has been lost: the tasks of the pool wait until a worker joins", p.devices[member].ID()), "")
	}
}

// lostBy reports whether a task, or a command on its queue, failed because its device was lost. If so, it removes the device from the
// pool. The error may precede the device's notification.
func (p *poolObject) lostBy(t *poolTask, err error) bool {
	d := p.devices[t.member]
	if err == nil && t.queue != nil && d.IsLost() {
		err = t.queue.Failure()
	}
	err = p.m.Engine.Unthrown(err)
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

// itemEnded records the result of an item. The first failure withdraws waiting items. The promise is rejected once the running
// items have ended.
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

// abandon ends tasks whose promises the engine no longer awaits, such as after Ctrl-C, without settling the promises. Queues of
// running tasks stay open until the pool is closed.
func (p *poolObject) abandon(tasks ...*poolTask) {
	p.tasks.Withdraw(func(t *poolTask) bool { return slices.Contains(tasks, t) })
	for _, t := range tasks {
		if p.release(t, false); t.queue != nil && !t.ended {
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
	b.settle.Resolve(func() (goja.Value, error) { return p.m.VM.NewArray(b.results...), nil })
}

// poolStatus implements pool.devices, which returns the task counters of each device.
func (m *Module) poolStatus(p *poolObject) (goja.Value, error) {
	var list []any
	for i, member := range p.tasks.Members() {
		row := m.VM.NewObject()
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
	return m.VM.NewArray(list...), nil
}

// closePool implements pool.close(), which closes the queues. A task that has not ended is an error. So is the first failure of
// closing a queue, but for lost devices; the other queues are closed nevertheless.
func (m *Module) closePool(p *poolObject) error {
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
		if session.Closed(q) { // by a task
			continue
		}
		if err := m.host.CloseQueue(q); err != nil && first == nil && contract.CodeOf(err) != contract.DeviceLost {
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

// poolClass returns the class of pools.
func (m *Module) poolClass() *lang.Class[*poolObject] {
	return lang.NewClass(m.Engine, lang.ClassSpec[*poolObject]{
		Name: "Pool",
		Methods: []lang.Method[*poolObject]{
			script.Promised(m.Script, "run", m.runInPool),
			script.Promised(m.Script, "map", m.mapInPool),
			script.Method(m.Script, "close", func(p *poolObject, _ goja.FunctionCall) (goja.Value, error) { return nil, m.closePool(p) }),
		},
		Fields:  []lang.Field[*poolObject]{script.Field(m.Script, "devices", m.poolStatus)},
		Inspect: func(p *poolObject, _ inspect.Options) string { return inspectPool(p) },
		Dispose: func(p *poolObject) error { return m.Explain(m.closePool(p)) },
	})
}
