package app

import (
	"encoding/json"
	"fmt"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// deviceReport is a device in the output of orepl devices --json.
type deviceReport struct {
	ID       string               `json:"id"`
	Type     string               `json:"type"`
	Platform offload.PlatformInfo `json:"platform"`
	*offload.DeviceInfo
	Properties []offload.Property `json:"properties,omitempty"`
}

// platformReport is a plugin, or a part of one, that is not available.
type platformReport struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

// runDevices implements orepl devices.
func runDevices(inv *invocation) error {
	asJSON := inv.flags.Bool("json", false, "print JSON")
	args, err := inv.parseMixed()
	if err != nil {
		return err
	}
	rt := inv.open()
	defer rt.Close()
	var found []*session.Device
	for _, id := range args {
		d, err := rt.Session().Device(inv.ctx, id)
		if err != nil {
			return err
		}
		found = append(found, d)
	}
	platforms := []session.PlatformStatus(nil)
	if len(args) == 0 {
		found = rt.Session().Devices(inv.ctx)
		platforms = rt.Session().Platforms(inv.ctx)
	}
	var devices []deviceReport
	var missing []platformReport
	for _, d := range found {
		devices = append(devices, deviceReport{d.ID(), d.Info().Type.String(), d.Platform(), d.Info(), d.Properties()})
	}
	for _, p := range platforms {
		if !p.Opened {
			missing = append(missing, platformReport{p.Plugin, p.Err.Error(), diag.Hint(p.Err)})
		}
		for _, part := range p.Missing {
			missing = append(missing, platformReport{p.Plugin + ":" + part.Name, part.Err.Error(), diag.Hint(part.Err)})
		}
	}
	if *asJSON {
		enc := json.NewEncoder(inv.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"devices": devices, "unavailable": missing})
	}
	for _, d := range devices {
		inv.printDevice(&d)
	}
	for _, p := range missing {
		inv.printf(inv.Stdout, "%s: not available: %s\n", p.Name, p.Reason)
		if p.Hint != "" {
			inv.printf(inv.Stdout, "  hint: %s\n", p.Hint)
		}
	}
	return nil
}

func (inv *invocation) printDevice(d *deviceReport) {
	l := &d.Limits
	inv.printf(inv.Stdout, "%s: %s\n", d.ID, d.Name)
	for _, row := range []struct{ name, value string }{
		{"type", d.Type},
		{"platform", d.Platform.Name + " " + d.Platform.Version},
		{"architecture", d.Arch},
		{"compute units", fmt.Sprint(d.ComputeUnits)},
		{"memory", fmt.Sprintf("%.1f GiB", float64(d.MemoryBytes)/(1<<30))},
		{"largest allocation", fmt.Sprintf("%.1f GiB", float64(l.AllocationBytes)/(1<<30))},
		{"shared memory of a group", fmt.Sprintf("%.0f KiB", float64(l.SharedBytes)/(1<<10))},
		{"largest group", fmt.Sprintf("%d work-items, %v", l.GroupItems, l.GroupSize)},
		{"subgroup sizes", fmt.Sprint(l.SubgroupSizes)},
		{"exact arithmetic", fmt.Sprint(d.Features.Exact)},
	} {
		inv.printf(inv.Stdout, "  %-26s%s\n", row.name, row.value)
	}
	printProperties(inv, d.Properties, "  ")
}

func printProperties(inv *invocation, list []offload.Property, indent string) {
	for _, p := range list {
		if nested, ok := p.Value.([]offload.Property); ok {
			inv.printf(inv.Stdout, "%s%s\n", indent, p.Name)
			printProperties(inv, nested, indent+"  ")
			continue
		}
		value := fmt.Sprint(p.Value)
		if p.Unit != "" {
			value += " " + p.Unit
		}
		inv.printf(inv.Stdout, "%s%-26s%s\n", indent, p.Name, value)
	}
}
