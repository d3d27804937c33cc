package registry

import "iter"

// Left yields the instances that an earlier snapshot of the same engine shows UP and
// this one does not, as the earlier one shows them, each with the version that showed
// the change. It reaches as far back as the change log, and costs what has changed.
func (s *Snapshot) Left(earlier *Snapshot) iter.Seq2[int64, *Instance] {
	return func(yield func(int64, *Instance) bool) {
		if s.Version == earlier.Version {
			return
		}
		same := map[*Segment]struct{}{}
		for seg := range earlier.ChangeSegments() {
			same[seg] = struct{}{}
		}
		for seg := range s.ChangeSegments() {
			if _, shared := same[seg]; shared {
				continue
			}
			for _, it := range seg.items {
				if was := s.leftBy(it.inst, earlier); was != nil && !yield(it.inst.version, was) {
					return
				}
			}
		}
	}
}

// leftBy returns the instance as it was if a change took it out of service since.
func (s *Snapshot) leftBy(change *Instance, earlier *Snapshot) *Instance {
	if change.version <= earlier.Version {
		return nil
	}
	was := earlier.Get(change.Key())
	if was == nil || was.Status != Up {
		return nil
	}
	if is := s.Get(change.Key()); is != nil && is.Status == Up {
		return nil
	}
	return was
}
