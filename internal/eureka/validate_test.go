package eureka

import (
	"errors"
	"testing"
)

func TestValidateNamesTheFirstFault(t *testing.T) {
	tests := map[string]struct {
		change func(*Instance)
		want   string
	}{
		"nothing wrong":       {func(*Instance) {}, ""},
		"white space":         {func(in *Instance) { in.HostName, in.IPAddr = " ", " " }, ""},
		"everything missing":  {func(in *Instance) { *in = Instance{} }, "Missing instanceId"},
		"all but the id":      {func(in *Instance) { *in = Instance{InstanceID: "i"} }, "Missing hostname"},
		"all but id and host": {func(in *Instance) { *in = Instance{InstanceID: "i", HostName: "h"} }, "Missing ip address"},
		"application":         {func(in *Instance) { in.App = "" }, "Missing appName"},
		"other application": {
			func(in *Instance) { in.App = "B"; in.DataCenter.Absent = true },
			"Mismatched appName, expecting ORDERS but was B",
		},
		"data centre":      {func(in *Instance) { in.DataCenter = DataCenter{Absent: true} }, "Missing dataCenterInfo"},
		"data centre name": {func(in *Instance) { in.DataCenter = DataCenter{} }, "Missing dataCenterInfo Name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := plainInstance()
			test.change(&in)
			err := Validate(&in, "Orders")
			if test.want == "" {
				if err != nil {
					t.Fatalf("got %q, want no error", err)
				}
				return
			}
			if fault, ok := errors.AsType[*ValidationError](err); !ok || fault.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestValidateAfterDecoding(t *testing.T) {
	tests := map[string]struct {
		body string
		want string
	}{
		"no host": {`{"instance":{"instanceId":"i","app":"A","ipAddr":"1","dataCenterInfo":{"name":"MyOwn"}}}`, "Missing hostname"},
		"no app":  {`{"instance":{"hostName":"h","app":"","ipAddr":"1","dataCenterInfo":{"name":"MyOwn"}}}`, "Missing appName"},
		"empty":   {`{"instance":{}}`, "Missing instanceId"},
		"no data centre": {
			`<instance><hostName>h</hostName><app>a</app><ipAddr>1</ipAddr></instance>`, "Missing dataCenterInfo",
		},
		"no data centre name": {
			`<instance><hostName>h</hostName><app>a</app><ipAddr>1</ipAddr><dataCenterInfo/></instance>`, "Missing dataCenterInfo Name",
		},
		"fine": {string(registration()), ""},
	}
	for name, test := range tests {
		in, err := DecodeInstance([]byte(test.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got string
		if err := Validate(&in, "a"); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
