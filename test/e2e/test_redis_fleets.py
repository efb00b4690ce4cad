"""Redis behind sentinels, as a cluster, and as several servers that do not know each other."""

import concurrent.futures
import signal
import subprocess
import threading
import time

from case import Case, seconds_to_window_end
from processes import LOOPBACK, Penstock, wait_until
from redis_server import Asker, RedisServer, figure, until_answered

DAY = 86400
LIMIT = 40
ALGORITHMS = ("fixed_window", "sliding_window", "sliding_log", "gcra")
RULES = "domain: d\ndescriptors:\n" + "".join(
    f"  - {{key: {each}, rate_limit: {{unit: day, requests_per_unit: {LIMIT}, algorithm: {each}}}}}\n"
    for each in ALGORITHMS) + f"""
  - key: list
    rate_limits:
      - {{unit: day, requests_per_unit: {LIMIT}, algorithm: gcra}}
      - {{unit: week, requests_per_unit: {LIMIT + 5}, algorithm: sliding_window}}
  - {{key: many, rate_limit: {{unit: day, requests_per_unit: 1000000, algorithm: gcra}}}}
  - {{key: plenty, rate_limit: {{unit: day, requests_per_unit: 1000000}}}}
"""
ALL_OR_NOTHING = """domain: joint
all_or_nothing: true
descriptors:
  - {key: few, rate_limit: {unit: day, requests_per_unit: 3, algorithm: gcra}}
  - {key: more, rate_limit: {unit: day, requests_per_unit: 10, algorithm: gcra}}
"""


class FleetCase(Case):
    def serve(self, store, nodes=1, *options, environment=()):
        shared = ["--store", store, "--store-deadline-ms", "3000", *options] if store else list(options)
        self.nodes = [self.keep(Penstock(self.directory, f"node{i}", [RULES, ALL_OR_NOTHING], options=shared,
                                         environment=environment)) for i in range(nodes)]
        seconds_to_window_end(DAY)
        return Asker(self.nodes[0])

    def race(self, key, value):
        def one(node):
            asker = Asker(node)
            return [asker.ask(key, value=value)[0] for _ in range(LIMIT)].count(200)

        with concurrent.futures.ThreadPoolExecutor(len(self.nodes)) as pool:
            return sum(pool.map(one, self.nodes))


class Load:
    """Asks for many keys over and over until it is ended; what it got, by status."""

    def __init__(self, node, key):
        self.statuses, self.longest_gap = [], 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(Asker(node), key))
        self._thread.start()

    def _run(self, asker, key):
        last_success, i = time.monotonic(), 0
        while not self._over.is_set() and i < 200_000:
            status = asker.ask(key, value=f"v{i % 50}")[0]
            self.statuses.append(status)
            if status == 200:
                self.longest_gap = max(self.longest_gap, time.monotonic() - last_success)
                last_success = time.monotonic()
            i += 1

    def end(self):
        self._over.set()
        self._thread.join()
        failed = len(self.statuses) - self.statuses.count(200)
        print(f"    {len(self.statuses)} answers under load, {failed} without the store, longest gap "
              f"{self.longest_gap:.2f} s", flush=True)
        return failed


class Cluster(FleetCase):
    def start(self, replicas):
        count = 6 if replicas else 3
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-config-file", "nodes.conf"]
        self.redis = [self.keep(RedisServer(self.directory, f"redis{i}", options=options)) for i in range(count)]
        done = subprocess.run(["redis-cli", "--cluster", "create", *(r.address for r in self.redis),
                               "--cluster-replicas", str(int(replicas)), "--cluster-yes"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for redis in self.redis:
            wait_until("the cluster is whole", lambda r=redis: "cluster_state:ok" in r.command("CLUSTER", "INFO"))
        for redis in self.redis[3:]:
            wait_until("the replicas follow", lambda r=redis: "master_link_status:up" in r.command("INFO", "replication"))
        return f"redis+cluster://{self.redis[0].address}"

    def test_counts_exactly_over_all_nodes(self):
        self.serve(self.start(False), 2)
        for key in (*ALGORITHMS, "list"):
            for value in ("a", "b", "c"):
                with self.subTest(key=key, value=value):
                    self.assertEqual(self.race(key, value), LIMIT)
        self.assertTrue(all(int(redis.command("DBSIZE")) > 0 for redis in self.redis), "all of them hold keys")

    def test_group_over_several_slots_is_charged_all_or_none(self):
        self.serve(self.start(False))
        asker = Asker(self.nodes[0], domain="joint")
        self.assertEqual([asker.passes("few", "more") for _ in range(6)], [True] * 3 + [False] * 3)
        left = asker.ask("more", hits=0)[1]["statuses"][0]["limitRemaining"]
        self.assertEqual(left, 7, "what was refused as a whole was given back")
        self.assertGreater(figure(self.nodes[0], "groups_divided"), 0)

    def test_stop_flag_over_several_slots(self):
        store = self.start(False)
        asker = self.serve(store, 1, "--spare-others", "true")
        asker.ask("fixed_window", hits=LIMIT)
        self.assertFalse(asker.passes("plenty", "fixed_window"))
        status, reply = asker.ask("plenty", hits=0)
        self.assertEqual((status, reply["statuses"][0]["limitRemaining"]), (200, 1000000), "it was spared")

    def test_slots_that_move_under_load_lose_no_count(self):
        store = self.start(False)
        self.serve(store)
        load = Load(self.nodes[0], "plenty")
        source = self.redis[0].command("CLUSTER", "MYID")
        target = self.redis[1].command("CLUSTER", "MYID")
        done = subprocess.run(["redis-cli", "--cluster", "reshard", self.redis[0].address, "--cluster-from", source,
                               "--cluster-to", target, "--cluster-slots", "1500", "--cluster-yes"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        failed = load.end()
        self.assertGreater(len(load.statuses), 100)
        self.assertLessEqual(failed, len(load.statuses) // 20)
        counted = sum(1_000_000 - Asker(self.nodes[0]).ask("plenty", value=f"v{i}", hits=0)[1]["statuses"][0]
                      ["limitRemaining"] for i in range(50))
        print(f"    {counted} counted of {len(load.statuses) - failed} admitted, {failed} not known", flush=True)
        self.assertGreaterEqual(counted, len(load.statuses) - failed)
        self.assertLessEqual(counted, len(load.statuses))

    def test_node_that_is_lost_is_replaced_by_its_replica(self):
        store = self.start(True)
        self.serve(store)
        asker = Asker(self.nodes[0])
        load = Load(self.nodes[0], "many")
        time.sleep(0.5)  # load before the loss
        victim = next(r for r in self.redis if "master" in r.command("ROLE"))
        victim.kill()
        survivors = [r for r in self.redis if r is not victim]
        wait_until("the cluster is whole again", lambda: "cluster_state:ok" in survivors[0].command("CLUSTER", "INFO")
                   and "fail" in survivors[0].command("CLUSTER", "NODES"), 20)
        for i in range(50):
            wait_until("each key is decided", lambda i=i: asker.ask("many", value=f"v{i}")[0] == 200, 20)
        load.end()
        self.assertLess(load.longest_gap, 10)


class Sentinel(FleetCase):
    CONFIG = """sentinel monitor mymaster 127.0.0.1 {port} 2
sentinel down-after-milliseconds mymaster 500
sentinel failover-timeout mymaster 2000
sentinel parallel-syncs mymaster 1
"""

    def start(self):
        self.primary = self.keep(RedisServer(self.directory, "primary"))
        replica = ["--replicaof", f"{LOOPBACK} {self.primary.port}"]
        self.replicas = [self.keep(RedisServer(self.directory, f"replica{i}", options=replica)) for i in range(2)]
        for each in self.replicas:
            wait_until("the replicas follow", lambda r=each: "master_link_status:up" in r.command("INFO", "replication"))
        config = self.CONFIG.format(port=self.primary.port)
        self.sentinels = [self.keep(RedisServer(self.directory, f"sentinel{i}", sentinel=config)) for i in range(3)]
        for sentinel in self.sentinels:
            wait_until("the sentinels know each other and the replicas",
                       lambda s=sentinel: s.command("SENTINEL", "CKQUORUM", "mymaster").startswith("OK 3")
                       and s.command("SENTINEL", "REPLICAS", "mymaster").count("\nport\n") == 2, 30)
        return ",".join(s.address for s in self.sentinels)

    def primary_port(self):
        return int(self.sentinels[-1].command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster").split()[-1])

    def test_primary_that_is_lost_is_replaced_and_nobody_restarts(self):
        hosts = self.start()
        asker = self.serve(f"redis+sentinel://{hosts}/mymaster")
        self.assertEqual(sum(asker.passes("gcra") for _ in range(10)), 10)
        self.primary.kill()
        took = until_answered(asker, "gcra", 30)
        admitted = sum(asker.passes("gcra", value="w") for _ in range(LIMIT + 10))
        print(f"    another primary after {took:.2f} s; admitted {admitted} of {LIMIT}", flush=True)
        self.assertEqual(admitted, LIMIT)
        old = self.keep(self.primary.restarted("old"))
        wait_until("it came back as a replica", lambda: old.command("ROLE").startswith("slave"), 30)
        self.assertTrue(asker.passes("many"))
        self.assertNotEqual(self.primary_port(), self.primary.port)

    def test_planned_failover_is_followed(self):
        hosts = self.start()
        asker = self.serve(f"redis+sentinel://{hosts}/mymaster")
        self.assertTrue(asker.passes("gcra"))
        self.sentinels[0].kill()
        self.sentinels[1].command("SENTINEL", "FAILOVER", "mymaster")
        wait_until("there is another primary", lambda: self.primary_port() != self.primary.port, 30)
        until_answered(asker, "gcra", 20)
        wait_until("it counts", lambda: asker.passes("many"), 20)

    def test_variables_of_the_original_name_the_sentinels(self):
        hosts = self.start()
        asker = self.serve(None, 1, "--store-deadline-ms", "3000",
                           environment=["REDIS_TYPE=SENTINEL", f"REDIS_URL=mymaster,{hosts}"])
        self.assertTrue(asker.passes("gcra", "fixed_window"))


class Hashed(FleetCase):
    def test_counters_are_spread_and_the_loss_of_one_server_touches_only_its_own(self):
        redis = [self.keep(RedisServer(self.directory, f"redis{i}")) for i in range(3)]
        self.serve("redis://" + ",".join(r.address for r in redis), 2)
        for key in (*ALGORITHMS, "list"):
            self.assertEqual(self.race(key, "a"), LIMIT)
        asker = Asker(self.nodes[0])
        for i in range(60):
            self.assertTrue(asker.passes("many", value=f"v{i}"))
        sizes = [int(r.command("DBSIZE")) for r in redis]
        self.assertTrue(all(size >= 8 for size in sizes), sizes)
        redis[1].signal(signal.SIGKILL)
        redis[1].wait()
        wait_until("the loss shows", lambda: any(asker.ask("many", value=f"v{i}")[0] != 200 for i in range(60)))
        statuses = [asker.ask("many", value=f"v{i}")[0] for i in range(60)]
        self.assertGreaterEqual(statuses.count(200), 30)
        self.assertGreaterEqual(len(statuses) - statuses.count(200), 5)

    def test_unix_socket(self):
        path = self.directory / "redis.sock"
        self.keep(RedisServer(self.directory, options=["--unixsocket", path]))
        asker = self.serve(f"unix://{path}")
        self.assertTrue(asker.passes("gcra", "fixed_window"))
