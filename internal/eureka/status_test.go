package eureka

import "testing"

func TestKnownStatusIsExactButForCase(t *testing.T) {
	tests := []struct {
		text  string
		want  Status
		known bool
	}{
		{"UP", StatusUp, true},
		{"down", StatusDown, true},
		{"Out_Of_Service", StatusOutOfService, true},
		{"STARTING", StatusStarting, true},
		{"UNKNOWN", StatusUnknown, true},
		{"", StatusUnknown, false},
		{" UP", StatusUnknown, false},
		{"UPP", StatusUnknown, false},
		{"OUT-OF-SERVICE", StatusUnknown, false},
	}
	for _, test := range tests {
		if got, known := KnownStatus(test.text); got != test.want || known != test.known {
			t.Errorf("KnownStatus(%q) = %s, %t", test.text, got, known)
		}
	}
}

func TestParseStatusIgnoresSpaceAndCase(t *testing.T) {
	for _, test := range []struct {
		text string
		want Status
	}{{" up\n", StatusUp}, {"Starting", StatusStarting}, {"", StatusUnknown}, {"PAUSED", StatusUnknown}} {
		if got := ParseStatus(test.text); got != test.want {
			t.Errorf("ParseStatus(%q) = %s, want %s", test.text, got, test.want)
		}
	}
}

func TestHashListsStatusesThatOccurInAlphabeticalOrder(t *testing.T) {
	tests := map[string][]Status{
		"":                        nil,
		"UP_3_":                   {StatusUp, StatusUp, StatusUp},
		"DOWN_1_UP_2_":            {StatusUp, StatusDown, StatusUp},
		"OUT_OF_SERVICE_1_UP_1_":  {StatusUp, StatusOutOfService},
		"STARTING_1_UNKNOWN_2_":   {StatusUnknown, StatusStarting, "PAUSED"},
		"DOWN_1_STARTING_1_UP_1_": {StatusStarting, StatusUp, StatusDown},
	}
	for want, statuses := range tests {
		var counts StatusCounts
		for _, s := range statuses {
			counts.Add(s, 1)
		}
		if got := counts.Hash(); got != want {
			t.Errorf("%v: got %q, want %q", statuses, got, want)
		}
		if got := counts.Total(); got != len(statuses) {
			t.Errorf("%v: got total %d, want %d", statuses, got, len(statuses))
		}
		for _, s := range statuses {
			counts.Add(s, -1)
		}
		if got := counts.Hash(); got != "" {
			t.Errorf("%v: got %q after taking all away", statuses, got)
		}
	}
}
