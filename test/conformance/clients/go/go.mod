module github.com/kureka/kureka/test/conformance/clients/go

go 1.26.0

require (
	github.com/ArthurHlt/go-eureka-client v1.1.0
	github.com/go-kit/kit v0.13.0
	github.com/go-kit/log v0.2.0
	github.com/hudl/fargo v1.4.0
	github.com/xuanbo/eureka-client v0.0.5
)

require (
	github.com/cenkalti/backoff/v4 v4.1.1 // indirect
	github.com/clbanning/mxj v1.8.4 // indirect
	github.com/franela/goreq v0.0.0-20171204163338-bcd34c9993f8 // indirect
	github.com/go-logfmt/logfmt v0.5.1 // indirect
	github.com/miekg/dns v1.1.43 // indirect
	github.com/op/go-logging v0.0.0-20160315200505-970db520ece7 // indirect
	github.com/sirupsen/logrus v1.8.1 // indirect
	github.com/xuanbo/requests v0.0.1 // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	gopkg.in/gcfg.v1 v1.2.3 // indirect
	gopkg.in/warnings.v0 v0.1.2 // indirect
)
