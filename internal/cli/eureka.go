package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// applications is the list as Eureka servers answer it in JSON. A server may write a
// single element where a list could be.
type applications struct {
	Applications struct {
		Application oneOrMany[struct {
			Name     string            `json:"name"`
			Instance oneOrMany[record] `json:"instance"`
		}] `json:"application"`
	} `json:"applications"`
}

// record is an instance as far as two servers are compared.
type record struct {
	ID         string    `json:"instanceId"`
	HostName   string    `json:"hostName"`
	IPAddr     string    `json:"ipAddr"`
	Status     string    `json:"status"`
	Port       portShape `json:"port"`
	SecurePort portShape `json:"securePort"`
	VIP        string    `json:"vipAddress"`
	Metadata   pairs     `json:"metadata"`
}

// portShape is a port, which servers write as a number or as text, and whether it is
// in use.
type portShape struct {
	Number  any `json:"$"`
	Enabled any `json:"@enabled"`
}

func (p portShape) String() string {
	if fmt.Sprint(p.Enabled) != "true" {
		return "off"
	}
	return fmt.Sprint(p.Number)
}

// pairs is metadata, of which an empty one may come as a class name only.
type pairs map[string]string

// UnmarshalJSON takes values that are no text for their text.
func (p *pairs) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*p = pairs{}
	for key, raw := range all {
		if strings.HasPrefix(key, "@") {
			continue
		}
		value := string(raw)
		if err := json.Unmarshal(raw, &value); err != nil {
			value = string(raw)
		}
		(*p)[key] = value
	}
	return nil
}

type oneOrMany[T any] []T

// UnmarshalJSON takes a list, or one element.
func (l *oneOrMany[T]) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	*l = oneOrMany[T]{one}
	return nil
}

// record is an instance in the words of a Eureka server. The list that clients read is
// not asked for: whoever does is taken for one, and drains wait for clients.
func (i *instance) record() record {
	port := func(number int) portShape { return portShape{number, number != 0} }
	return record{
		ID: i.ID, HostName: i.HostName, IPAddr: i.IPAddr, Status: i.Status, Port: port(i.Port), SecurePort: port(i.SecurePort), VIP: i.VIP, Metadata: i.Metadata,
	}
}

// list reads all instances of another Eureka server, by application and id.
func (a *api) list(ctx context.Context) (map[string]record, error) {
	var all applications
	if err := a.get(ctx, "/apps", nil, &all); err != nil {
		return nil, err
	}
	out := map[string]record{}
	for _, app := range all.Applications.Application {
		for _, i := range app.Instance {
			id := i.ID
			if id == "" {
				id = i.HostName // what a server calls an instance that gave no id
			}
			out[strings.ToUpper(app.Name)+"/"+id] = i
		}
	}
	return out, nil
}

// other is another Eureka server, whose base URL has a path of its own. Its clock is
// nobody's.
func (o *options) other(address string) (*api, error) {
	base, ok := parseServer(address)
	if !ok {
		return nil, errors.New("what is to be compared with is no URL of a Eureka server: want one such as http://eureka:8761/eureka")
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	name := *base
	name.User = nil
	return &api{base: base, name: name.String(), client: &http.Client{Timeout: requestTimeout}, clock: &clock{local: o.Now}, close: func() {}}, nil
}
