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
	"strconv"
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
	set := flag.NewFlagSet("service", flag.ExitOnError)
	s, err := orepl.Load(ctx, settings{"localhost:8080", "tenants", 2 * time.Second, time.Second / 2}, orepl.FromEnvironment("SERVICE"), orepl.FromFlags(set, os.Args[1:]))
	if err == nil {
		err = serve(ctx, s.Value)
	}
	if err != nil {
		slog.Error("service", "error", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, s settings) error {
	web, err := newService(ctx, s)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: s.Address, Handler: web}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background()) // ListenAndServe returns its error
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return web.Close(context.Background())
}

// service has a pipeline for each file of the folder.
type service struct {
	http.ServeMux
	rt        *orepl.Runtime
	counts    *metrics.Metrics
	pipelines map[string]*orepl.Watched
}

func newService(ctx context.Context, s settings) (*service, error) {
	counts := &metrics.Metrics{}
	web := &service{counts: counts, pipelines: map[string]*orepl.Watched{}, rt: orepl.Open(orepl.Options{
		Plugins: all.Plugins(), Observe: observe.All(counts.Observe, logs.New(slog.Default(), logs.Options{Slow: s.Time / 2})),
	})}
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.js"))
	for _, path := range files {
		name := filepath.Base(path[:len(path)-len(".js")])
		tenant := orepl.Tenant{Name: name}
		tenant.Limits.Time = s.Time
		opts, failed := tenant.Options()
		if failed != nil {
			return nil, errors.Join(failed, web.Close(ctx))
		}
		watched, failed := web.rt.Watch(ctx, path, orepl.WatchOptions{
			Pipeline: orepl.PipelineOptions{Engine: opts, Instances: 2}, Interval: s.Poll, Canary: orepl.Data{"x": []float32{1, 2, 3}},
			OnReload: func(err error) { slog.Info("reload", "tenant", name, "error", err) },
		})
		if failed != nil {
			return nil, errors.Join(failed, web.Close(ctx))
		}
		web.pipelines[name] = watched
	}
	web.Handle("GET /metrics", counts)
	web.HandleFunc("GET /schema/{name}", web.schema)
	web.HandleFunc("POST /run/{name}", web.run)
	return web, err
}

func (web *service) schema(w http.ResponseWriter, r *http.Request) {
	if p := web.pipelines[r.PathValue("name")]; p != nil {
		_, _ = w.Write(p.Pipeline().Schema()) // fails if the client has gone
		return
	}
	http.NotFound(w, r)
}

func (web *service) run(w http.ResponseWriter, r *http.Request) {
	p := web.pipelines[r.PathValue("name")]
	var x, y []float32
	if p == nil {
		http.NotFound(w, r)
	} else if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&x); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	} else if err := p.Run(r.Context(), values(r, orepl.Data{"x": x}), orepl.Data{"y": &y}); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	} else {
		_ = json.NewEncoder(w).Encode(y) // fails if the client has gone
	}
}

// values adds the parameters of a request's query: numbers, true, false or texts.
func values(r *http.Request, in orepl.Data) orepl.Data {
	for name, list := range r.URL.Query() {
		in[name] = list[0]
		if n, err := strconv.ParseFloat(list[0], 64); err == nil {
			in[name] = n
		} else if b, err := strconv.ParseBool(list[0]); err == nil {
			in[name] = b
		}
	}
	return in
}

// Close waits for current runs and closes the devices.
func (web *service) Close(ctx context.Context) error {
	var failed []error
	for _, p := range web.pipelines {
		failed = append(failed, p.Shutdown(ctx))
	}
	return errors.Join(append(failed, web.rt.Close(ctx))...)
}
