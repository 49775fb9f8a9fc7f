// Command service lets tenants edit pipelines that it serves over HTTP: POST /run/NAME?gain=2 runs tenants/NAME.js on the JSON array
// in the body. GET /schema/NAME describes the parameters, GET /metrics counts.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/observe/logs"
	"github.com/orepl/orepl/runtime/observe/metrics"
)

// settings are the options of the service: flags such as -address=:80, or variables such as SERVICE_ADDRESS.
type settings struct {
	Address string        `doc:"where to listen"`
	Dir     string        `doc:"the folder of the tenants' pipelines"`
	Time    time.Duration `doc:"limit of a run" check:"min=1ms max=1m"`
	Poll    time.Duration `doc:"interval of looks at the files" check:"min=1ms"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Args[1:]); err != nil {
		slog.Error("service", "error", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("service", flag.ExitOnError)
	s, err := orepl.Load(ctx, settings{"localhost:8080", "tenants", 2 * time.Second, time.Second / 2}, orepl.FromEnvironment("SERVICE"), orepl.FromFlags(set, args))
	if err != nil {
		return err
	}
	web, err := newService(ctx, s.Value)
	if err != nil {
		return errors.Join(err, web.Close())
	}
	server, stopped := &http.Server{Addr: s.Value.Address, Handler: web}, make(chan error, 1)
	context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.Background()) }) // waits for requests
	if err = server.ListenAndServe(); errors.Is(err, http.ErrServerClosed) {
		err = <-stopped
	}
	return errors.Join(err, web.Close())
}

// service has a pipeline for each file of the folder.
type service struct {
	http.ServeMux
	rt        *orepl.Runtime
	counts    metrics.Metrics
	pipelines map[string]*orepl.Watched
}

func newService(ctx context.Context, s settings) (*service, error) {
	web := &service{pipelines: map[string]*orepl.Watched{}}
	hook := observe.All(web.counts.Observe, logs.New(slog.Default(), logs.Options{Slow: s.Time / 2}))
	web.rt = orepl.Open(orepl.Options{Plugins: all.Plugins(), Observe: hook})
	web.Handle("GET /metrics", &web.counts)
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.js"))
	for _, path := range files {
		err = errors.Join(err, web.add(ctx, path, s))
	}
	return web, err
}

func (web *service) add(ctx context.Context, path string, s settings) error {
	tenant := orepl.Tenant{Name: filepath.Base(path[:len(path)-len(".js")])}
	tenant.Limits.Time = s.Time
	opts, err := tenant.Options()
	if err != nil {
		return err
	}
	p, err := web.rt.Watch(ctx, path, orepl.WatchOptions{
		Pipeline: orepl.PipelineOptions{Engine: opts, Instances: 2}, Interval: s.Poll, Canary: orepl.Data{"x": []float32{1, 2, 3}},
		OnReload: func(err error) { slog.Info("reload", "tenant", tenant.Name, "error", err) },
	})
	if err != nil {
		return err
	}
	web.pipelines[tenant.Name] = p
	web.HandleFunc("POST /run/"+tenant.Name, func(w http.ResponseWriter, r *http.Request) { run(p, w, r) })
	web.HandleFunc("GET /schema/"+tenant.Name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(p.Pipeline().Schema()) })
	return nil
}

func run(p *orepl.Watched, w http.ResponseWriter, r *http.Request) {
	var x, y []float32
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&x)
	if err == nil {
		err = p.Run(r.Context(), p.Pipeline().Parse(r.URL.Query(), orepl.Data{"x": x}), orepl.Data{"y": &y})
	}
	if err == nil {
		err = json.NewEncoder(w).Encode(y)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	}
}

// Close waits for current runs and closes the devices.
func (web *service) Close() (err error) {
	for _, p := range web.pipelines {
		err = errors.Join(err, p.Shutdown(context.Background()))
	}
	return errors.Join(err, web.rt.Shutdown(context.Background()))
}
