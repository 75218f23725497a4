package server

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

var typeMetrics = []string{"text/plain; version=0.0.4; charset=utf-8"}

// metrics is GET /metrics, in Prometheus' text format. Names of tools need no escapes.
func (s *Server) metrics(x *exchange) {
	stats := s.options.Host.Stats()
	var m exposition
	m.family("hukilau_calls_total", "counter", "Calls of tools, by how they ended.")
	for _, t := range stats.Tools {
		statuses := make([]string, 0, len(t.Status))
		for status := range t.Status {
			statuses = append(statuses, status)
		}
		slices.Sort(statuses)
		for _, status := range statuses {
			m.sample("hukilau_calls_total", `tool="`+t.Tool+`",status="`+status+`"`, float64(t.Status[status]))
		}
	}
	m.family("hukilau_call_seconds", "histogram", "How long calls of tools took.")
	for i := range stats.Tools {
		m.histogram("hukilau_call_seconds", &stats.Tools[i])
	}
	m.gauge("hukilau_calls_running", "Calls that run.", float64(stats.Running))
	m.gauge("hukilau_calls_waiting", "Calls that wait for a place to run.", float64(stats.Waiting))
	m.gauge("hukilau_calls_apart", "Calls that run on their own.", float64(s.live.count()))
	m.gauge("hukilau_tools", "Tools that are served.", float64(len(s.options.Host.Tools())))
	m.gauge("hukilau_tools_broken", "Definitions that could not be loaded.", float64(len(s.options.Broken())))
	m.gauge("hukilau_body_bytes", "Memory of large bodies of requests.", float64(s.bodies.Load()))
	m.gauge("hukilau_vm_idle_bytes", "Memory of VMs that wait for calls.", float64(engine.IdleBytes()))
	x.writeBody(http.StatusOK, typeMetrics, m.text)
}

// exposition is a text under way.
type exposition struct{ text []byte }

func (m *exposition) family(name, kind, help string) {
	m.text = append(m.text, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

func (m *exposition) sample(name, labels string, value float64) {
	m.text = append(m.text, name...)
	if labels != "" {
		m.text = append(m.text, "{"+labels+"}"...)
	}
	m.text = append(m.text, ' ')
	m.text = strconv.AppendFloat(m.text, value, 'g', -1, 64)
	m.text = append(m.text, '\n')
}

func (m *exposition) gauge(name, help string, value float64) {
	m.family(name, "gauge", help)
	m.sample(name, "", value)
}

func (m *exposition) histogram(name string, t *toolhost.ToolStats) {
	label := `tool="` + t.Tool + `"`
	var sum uint64
	for i, bound := range toolhost.Bounds {
		sum += t.Under[i]
		le := strconv.FormatFloat(bound.Seconds(), 'g', -1, 64)
		m.sample(name+"_bucket", label+`,le="`+le+`"`, float64(sum))
	}
	sum += t.Under[len(toolhost.Bounds)]
	m.sample(name+"_bucket", label+`,le="+Inf"`, float64(sum))
	m.sample(name+"_sum", label, t.Took.Seconds())
	m.sample(name+"_count", label, float64(sum))
}
