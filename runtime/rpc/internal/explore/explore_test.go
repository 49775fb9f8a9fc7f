package explore

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/rpc"
)

func configs() map[string]Config {
	return map[string]Config{
		"three ports":   {Ports: 3, Calls: [2][]Call{{Reply, OneWay}, {OneWay, Reply}}},
		"one port":      {Ports: 1, Calls: [2][]Call{{Reply, OneWay}, {OneWay, Reply}}},
		"two ports":     {Ports: 2, Calls: [2][]Call{{OneWay, Reply}, {OneWay}}},
		"bell":          {Ports: 1, Bell: true, Calls: [2][]Call{{Reply}, {OneWay}}},
		"bell, 2 ports": {Ports: 2, Bell: true, Calls: [2][]Call{{OneWay}, {Reply}}},
	}
}

// TestOrders checks that the documented memory orders violate no property.
func TestOrders(t *testing.T) {
	for name, c := range configs() {
		c.Orders = Orders()
		states, err := Run(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d states", name, states)
	}
}

// TestWeakened relaxes each memory order in turn. Some configuration must then violate a property.
func TestWeakened(t *testing.T) {
	for i, tr := range rpc.Transitions {
		if tr.Order == rpc.Relaxed {
			continue
		}
		var found error
		for _, c := range configs() {
			c.Orders = Orders()
			c.Orders[i] = rpc.Relaxed
			if _, found = Run(c); found != nil {
				break
			}
		}
		if found == nil {
			t.Errorf("%s may be relaxed", tr.Name)
		} else if strings.Contains(found.Error(), "states") {
			t.Error(found)
		} else {
			t.Logf("%s: %v", tr.Name, found)
		}
	}
}
