// One lane of test/conformance around eureka-js-client and its fork; doc.go has
// the contract. NODE_PATH says where the clients are installed.
'use strict';

const http = require('http');
const { Eureka } = require(process.env.LANE_CLIENT);
const { version } = require(`${process.env.LANE_CLIENT}/package.json`);

const env = process.env;
const url = new URL(env.KUREKA_URL);
const vips = new Set();

const client = new Eureka({
  logger: console,
  shouldUseDelta: env.LANE_DELTA === 'on',
  instance: {
    app: env.LANE_APP,
    instanceId: env.LANE_ID,
    hostName: env.LANE_HOST,
    ipAddr: env.LANE_IP,
    port: { $: Number(env.LANE_PORT), '@enabled': true },
    securePort: { $: Number(env.LANE_SECURE_PORT), '@enabled': false },
    vipAddress: env.LANE_VIP,
    dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
    leaseInfo: {
      renewalIntervalInSecs: Number(env.LANE_RENEW_SECONDS),
      durationInSecs: Number(env.LANE_LEASE_SECONDS),
    },
    metadata: JSON.parse(env.LANE_METADATA),
  },
  eureka: {
    host: url.hostname,
    port: Number(url.port),
    servicePath: `${url.pathname}apps/`,
    heartbeatInterval: Number(env.LANE_RENEW_SECONDS) * 1000,
    registryFetchInterval: Number(env.LANE_FETCH_SECONDS) * 1000,
    filterUpInstances: false,
    maxRetries: 3,
    requestRetryDelay: 500,
  },
});

function show(instance) {
  const metadata = { ...instance.metadata };
  delete metadata['@class'];
  return {
    status: instance.status,
    ipAddr: instance.ipAddr,
    hostName: instance.hostName,
    port: instance.port.$,
    securePort: instance.securePort.$,
    vipAddress: instance.vipAddress,
    metadata,
  };
}

// The client keeps its registry twice, by application and by vip. The second is
// shown: when it applies a delta, the client replaces and removes the wrong member
// of the first if the application has several.
function registry() {
  const apps = {};
  for (const vip of Object.keys(client.cache.vip)) {
    for (const instance of client.getInstancesByVipAddress(vip)) {
      const app = instance.app.toUpperCase();
      apps[app] = apps[app] || {};
      apps[app][instance.instanceId] = show(instance);
    }
  }
  return apps;
}

let started = false;

function act(method, path, answer) {
  switch (`${method} ${path}`) {
    case 'GET /ready':
      return answer(started ? 200 : 503);
    case 'GET /whoami':
      return answer(200, { client: env.LANE_CLIENT, version, app: env.LANE_APP, id: client.instanceId });
    case 'GET /registry':
      return answer(200, registry());
    case 'GET /stats':
      return answer(200, { full: null, delta: null, mismatches: null });
    case 'POST /fetch':
      return client.fetchRegistry((err) => (err ? answer(500, String(err)) : answer(200)));
    case 'POST /stop':
      return client.stop((err) => {
        answer(err ? 500 : 200, err ? String(err) : undefined);
        server.close();
        setTimeout(() => process.exit(err ? 1 : 0), 100);
      });
    default:
      return answer(501);
  }
}

const server = http.createServer((req, res) => {
  const answer = (code, value) => {
    const body = value === undefined ? '' : JSON.stringify(value);
    res.writeHead(code, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    res.end(body);
  };
  try {
    act(req.method, req.url, answer);
  } catch (err) {
    answer(500, String(err.stack));
  }
});

const [host, port] = env.LANE_CONTROL.split(':');
server.listen(Number(port), host, () => {
  client.start((err) => {
    if (err) {
      console.error('starting:', err);
      process.exit(1);
    }
    started = true;
  });
});
