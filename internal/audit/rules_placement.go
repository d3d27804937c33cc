package audit

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
)

func placementRules() []Rule {
	return []Rule{
		{
			ID: "SingleReplica", Severity: Info, check: singleReplica,
			About:  "There is one pod only: whatever ends it leaves nobody, and Kureka keeps the last instance in service through notices",
			Advice: "Run two or more, with a PodDisruptionBudget",
		},
		{
			ID: "RolloutStopsEverybody", Severity: Warning, check: rolloutStopsEverybody,
			About:  "A rollout ends all pods before a new one is there",
			Advice: "Use a RollingUpdate with maxUnavailable 0 or 25%",
		},
		{
			ID: "HostNetworkWithoutPort", Severity: Warning, check: hostNetworkWithoutPort,
			About:  "Pods of the host network share an address, and without a declared port nobody knows whose a registration is: only its lease decides",
			Advice: "Declare the container port that the client registers, or leave the host network",
		},
		{
			ID: "HostNetwork", Severity: Info, check: hostNetwork,
			About:  "Pods of the host network are told apart by their declared ports only",
			Advice: "Nothing, as long as the declared port is the registered one",
		},
		{
			ID: "ContainerUnknown", Severity: Info, check: containerUnknown,
			About:  "None of several containers declares a port, so a restart of the application's container alone is not seen",
			Advice: "Declare the container port that the client registers",
		},
		{
			ID: "JobRegisters", Severity: Info, check: jobRegisters,
			About:  "Pods that run to completion register, so they are called; the drain leaves them alone",
			Advice: "Set eureka.client.register-with-eureka=false unless somebody is to call them",
		},
	}
}

func singleReplica(s *subject) []hit {
	if s.Ends || s.copies() != 1 || len(s.registering()) == 0 {
		return nil
	}
	return []hit{{reason: "it runs one pod"}}
}

func rolloutStopsEverybody(s *subject) []hit {
	if s.copies() < 2 || !s.stopsAll() || len(s.registering()) == 0 {
		return nil
	}
	return []hit{{reason: fmt.Sprintf("its update strategy ends all %d pods at once", s.copies())}}
}

// stopsAll reports whether an update may end all pods at once. Percentages are rounded
// down, as Kubernetes does.
func (s *subject) stopsAll() bool {
	if s.MaxUnavailable == nil {
		return false
	}
	all := int(s.copies())
	n, err := intstr.GetScaledValueFromIntOrPercent(s.MaxUnavailable, all, false)
	return err == nil && n >= all
}

func hostNetworkWithoutPort(s *subject) []hit {
	if !s.Template.Spec.HostNetwork || s.declaresPort() || len(s.registering()) == 0 {
		return nil
	}
	return []hit{{reason: "hostNetwork is true, and no container declares a port"}}
}

func hostNetwork(s *subject) []hit {
	if !s.Template.Spec.HostNetwork || !s.declaresPort() || len(s.registering()) == 0 {
		return nil
	}
	return []hit{{reason: "hostNetwork is true"}}
}

func (s *subject) declaresPort() bool {
	for _, c := range s.containers {
		if len(c.Ports) > 0 {
			return true
		}
	}
	return false
}

func containerUnknown(s *subject) []hit {
	if len(s.containers) < 2 || s.declaresPort() || s.Template.Spec.HostNetwork || len(s.registering()) == 0 {
		return nil
	}
	return []hit{{reason: fmt.Sprintf("none of its %d containers declares a port", len(s.containers))}}
}

func jobRegisters(s *subject) []hit {
	if !s.Ends || len(s.registering()) == 0 {
		return nil
	}
	return []hit{{reason: "it runs to completion, and nothing says that it does not register"}}
}
