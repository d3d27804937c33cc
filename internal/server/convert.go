package server

import (
	"time"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

// recordOf turns a decoded registration into a record. A client that sends no
// timestamp of its own gets the server's, as from the reference server.
func recordOf(in *eureka.Instance, now time.Time) *registry.Record {
	dirty := in.LastDirtyMS
	if dirty == 0 {
		dirty = now.UnixMilli()
	}
	return &registry.Record{
		App:      in.App,
		ID:       in.InstanceID,
		HostName: in.HostName,
		IPAddr:   in.IPAddr,

		VIP:        in.VIP,
		SecureVIP:  in.SecureVIP,
		Port:       registry.Port(in.Port),
		SecurePort: registry.Port(in.SecurePort),
		CountryID:  in.CountryID,
		DataCenter: registry.DataCenter{Name: in.DataCenter.Name, Metadata: recordPairs(in.DataCenter.Metadata)},
		Metadata:   recordPairs(in.Metadata),

		AppGroup:        in.AppGroupName,
		SID:             in.SID,
		ASG:             in.ASGName,
		HomePageURL:     in.HomePageURL,
		StatusPageURL:   in.StatusPageURL,
		HealthCheckURL:  in.HealthCheckURL,
		SecureHealthURL: in.SecureHealthCheckURL,
		Status:          registry.ParseStatus(string(in.Status)),
		Dirty:           dirty,
		RenewalInterval: time.Duration(in.Lease.RenewalIntervalSecs) * time.Second,
		LeaseDuration:   time.Duration(in.Lease.DurationSecs) * time.Second,
	}
}

func recordPairs(from []eureka.Pair) []registry.Pair {
	if len(from) == 0 {
		return nil
	}
	to := make([]registry.Pair, len(from))
	for i, p := range from {
		to[i] = registry.Pair(p)
	}
	return to
}

// encoder writes instances one after the other without allocating for each.
type encoder struct {
	format     eureka.Format
	wire       eureka.Instance
	metadata   []eureka.Pair
	dataCenter []eureka.Pair
}

// appendInstance appends an instance as it stands inside an application.
func (e *encoder) appendInstance(dst []byte, inst *registry.Instance) []byte {
	e.fill(inst)
	return e.format.AppendInstance(dst, &e.wire)
}

// appendDocument appends a document with the instance as its root.
func (e *encoder) appendDocument(dst []byte, inst *registry.Instance) []byte {
	e.fill(inst)
	return e.format.AppendInstanceDocument(dst, &e.wire)
}

// fill turns a view of the registry into wire fields. The time of the last
// renewal is the one at this moment.
func (e *encoder) fill(inst *registry.Instance) {
	e.metadata = appendWirePairs(e.metadata[:0], inst.Metadata)
	e.dataCenter = appendWirePairs(e.dataCenter[:0], inst.DataCenter.Metadata)
	e.wire = eureka.Instance{
		InstanceID:   inst.ID,
		HostName:     inst.HostName,
		App:          inst.App,
		AppGroupName: inst.AppGroup,
		IPAddr:       inst.IPAddr,
		SID:          inst.SID,

		Status:           eureka.Status(inst.Status.String()),
		OverriddenStatus: eureka.Status(inst.Override.String()), // none is written as UNKNOWN

		Port:       eureka.Port(inst.Port),
		SecurePort: eureka.Port(inst.SecurePort),

		CountryID:  inst.CountryID,
		DataCenter: eureka.DataCenter{Name: inst.DataCenter.Name, Metadata: e.dataCenter},
		Lease: eureka.Lease{
			RenewalIntervalSecs: inst.Interval,
			DurationSecs:        inst.Duration,
			RegistrationMS:      inst.RegisteredMS,
			LastRenewalMS:       inst.LastRenewalMS(),
			EvictionMS:          inst.EvictedMS,
			ServiceUpMS:         inst.ServiceUpMS,
		},
		Metadata: e.metadata,

		HomePageURL:          inst.HomePageURL,
		StatusPageURL:        inst.StatusPageURL,
		HealthCheckURL:       inst.HealthCheckURL,
		SecureHealthCheckURL: inst.SecureHealthURL,

		VIP:       inst.VIP,
		SecureVIP: inst.SecureVIP,

		LastUpdatedMS: inst.UpdatedMS,
		LastDirtyMS:   inst.Dirty,
		ActionType:    eureka.ActionType(inst.Action.String()),
		ASGName:       inst.ASG,
	}
}

func appendWirePairs(to []eureka.Pair, from []registry.Pair) []eureka.Pair {
	for _, p := range from {
		to = append(to, eureka.Pair(p))
	}
	return to
}

// hash returns the reconcile hash of the listed instances; both packages count
// the statuses in alphabetical order of their names.
func hash(counts registry.Counts) string { return eureka.StatusCounts(counts).Hash() }
