"""Configurations of Envoy 1.40, as the JSON it reads: one listener, one upstream, a rate limit service in front."""

from processes import LOOPBACK

HTTP_MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
HTTP_RATE_LIMIT = "envoy.extensions.filters.http.ratelimit.v3.RateLimit"
NETWORK_RATE_LIMIT = "envoy.extensions.filters.network.ratelimit.v3.RateLimit"
TCP_PROXY = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
ROUTER = "envoy.extensions.filters.http.router.v3.Router"
HTTP_PROTOCOLS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def by_header(name, key, optional=False):
    """An action: the entry `key` = the value of a request's header."""
    return {"request_headers": {"header_name": name, "descriptor_key": key, "skip_if_absent": optional}}


def constant(key, value):
    """An action: the entry `key` = `value`."""
    return {"generic_key": {"descriptor_key": key, "descriptor_value": value}}


def peer_address():
    """An action: the entry `remote_address` = where the request comes from; see `trusted_hops` of `http_proxy`."""
    return {"remote_address": {}}


def http_proxy(upstream_port, service_ports, policies, *, domain="edge", timeout="2s", deny_on_failure=False,
               health_checks=False, limit_headers=True, trusted_hops=0, http2=None, connections=None):
    """An HTTP proxy; each policy is the list of actions that make one descriptor.

    `trusted_hops`: how many proxies in front of this one are ours, and so may say in X-Forwarded-For who asks; all that
    stands left of what they wrote is the caller's own word, and is not believed.
    `http2` and `connections`: Http2ProtocolOptions and HttpProtocolOptions (core) towards the rate limit service.
    """
    limit = typed(HTTP_RATE_LIMIT, domain=domain, timeout=timeout, failure_mode_deny=deny_on_failure,
                  enable_x_ratelimit_headers="DRAFT_VERSION_03" if limit_headers else "OFF",
                  enable_retry_after_header=True, rate_limit_service=service(),
                  rate_limits=[{"actions": actions} for actions in policies])
    route = {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
        {"match": {"prefix": "/"}, "route": {"cluster": "upstream"}}]}]}
    manager = typed(HTTP_MANAGER, stat_prefix="edge", route_config=route, use_remote_address=True,
                    xff_num_trusted_hops=trusted_hops, http_filters=[
        {"name": "envoy.filters.http.ratelimit", "typed_config": limit},
        {"name": "envoy.filters.http.router", "typed_config": typed(ROUTER)}])
    return bootstrap([{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}],
                     upstream_port, service_ports, health_checks, http2, connections)


def tcp_proxy(upstream_port, service_ports, descriptors, *, domain="edge"):
    """A TCP proxy that asks once a connection; each descriptor is a list of (key, value)."""
    entries = [{"entries": [{"key": k, "value": v} for k, v in d]} for d in descriptors]
    limit = typed(NETWORK_RATE_LIMIT, stat_prefix="edge", domain=domain, timeout="2s", descriptors=entries,
                  rate_limit_service=service())
    return bootstrap([{"name": "envoy.filters.network.ratelimit", "typed_config": limit},
                      {"name": "envoy.filters.network.tcp_proxy",
                       "typed_config": typed(TCP_PROXY, stat_prefix="edge", cluster="upstream")}],
                     upstream_port, service_ports)


def typed(message, **fields):
    return {"@type": f"type.googleapis.com/{message}", **fields}


def service():
    return {"transport_api_version": "V3", "grpc_service": {"envoy_grpc": {"cluster_name": "penstock"}}}


def socket(port):
    return {"socket_address": {"address": LOOPBACK, "port_value": port}}


def cluster(name, ports, **fields):
    endpoints = [{"endpoint": {"address": socket(port)}} for port in ports]
    return {"name": name, "type": "STATIC", "connect_timeout": "0.5s",
            "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]}, **fields}


def bootstrap(filters, upstream_port, service_ports, health_checks=False, http2=None, connections=None):
    protocols = {HTTP_PROTOCOLS: typed(HTTP_PROTOCOLS, explicit_http_config={"http2_protocol_options": http2 or {}},
                                       common_http_protocol_options=connections or {})}
    checks = [{"timeout": "0.5s", "interval": "0.1s", "no_traffic_interval": "0.1s", "unhealthy_threshold": 1,
               "healthy_threshold": 1, "grpc_health_check": {"service_name": "ratelimit"}}] if health_checks else []
    return {
        "admin": {"address": socket(0)},
        "static_resources": {
            "listeners": [{"name": "edge", "address": socket(0), "filter_chains": [{"filters": filters}]}],
            "clusters": [cluster("upstream", [upstream_port]),
                         cluster("penstock", service_ports, health_checks=checks,
                                 typed_extension_protocol_options=protocols)],
        },
    }
