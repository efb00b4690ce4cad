"""Several Penstock processes on one Redis count as one."""

import concurrent.futures

from case import Case, seconds_to_window_end
from processes import Penstock
from redis_server import Asker, RedisServer, figure

DAY = 86400
LIMIT = 50
ALGORITHMS = ("fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra")
RULES = "domain: d\ndescriptors:\n" + "".join(
    f"  - {{key: {each}, rate_limit: {{unit: day, requests_per_unit: {LIMIT}, algorithm: {each}}}}}\n"
    for each in ALGORITHMS) + f"""
  - {{key: strict, rate_limit: {{unit: day, requests_per_unit: {LIMIT}, count_refused: false}}}}
  - {{key: spread, rate_limit: {{unit: day, requests_per_unit: {LIMIT}, window_offset: per_key}}}}
  - key: list
    rate_limits:
      - {{unit: day, requests_per_unit: {LIMIT}, algorithm: gcra}}
      - {{unit: week, requests_per_unit: {LIMIT + 5}, algorithm: sliding_window}}
  - {{key: node, rate_limit: {{unit: day, requests_per_unit: 3, tier: local}}}}
  - key: backstop
    rate_limits:
      - {{unit: day, requests_per_unit: {LIMIT}, algorithm: gcra}}
      - {{unit: day, requests_per_unit: 4, algorithm: sliding_window, tier: local}}
"""


class OneRedis(Case):
    def start(self, nodes, *options):
        self.redis = self.keep(RedisServer(self.directory))
        # The deadline is for a machine on which all these processes share two cores.
        shared = ["--store", self.redis.url, "--store-deadline-ms", "5000", *options]
        self.nodes = [self.penstock(RULES, f"node{i}", shared) for i in range(nodes)]
        seconds_to_window_end(DAY)

    def race(self, key, each):
        """How many of `each` requests to every node pass, all nodes at once."""

        def one(node):
            asker = Asker(node)
            replies = [asker.ask(key)[0] for _ in range(each)]
            self.assertLessEqual(set(replies), {200, 429}, "every request was decided")
            return replies.count(200)

        with concurrent.futures.ThreadPoolExecutor(len(self.nodes)) as pool:
            return sum(pool.map(one, self.nodes))

    def test_two_nodes_admit_exactly_the_limit_for_every_algorithm(self):
        self.start(2)
        for key in (*ALGORITHMS, "strict", "spread", "list"):
            with self.subTest(key=key):
                self.assertEqual(self.race(key, LIMIT), LIMIT)

    def test_four_nodes_admit_exactly_the_limit(self):
        self.start(4)
        for key in ("fixed_window", "gcra", "sliding_log"):
            with self.subTest(key=key):
                self.assertEqual(self.race(key, LIMIT // 2), LIMIT)

    def test_what_is_local_is_counted_by_each_node(self):
        self.start(2)
        self.assertEqual(self.race("node", 10), 6)
        self.assertEqual(self.race("backstop", 10), 8, "four on each node, before the shared limit is reached")
        self.assertEqual(self.redis.command("DBSIZE"), "1")

    def test_counts_together_with_who_uses_the_keys_of_the_original(self):
        self.start(1)
        asker = Asker(self.nodes[0])
        self.assertTrue(asker.passes("fixed_window"))
        key = self.redis.command("KEYS", "d_fixed_window_v_*")
        self.assertRegex(key, r"^d_fixed_window_v_\d+$")
        self.assertEqual(self.redis.command("GET", key), "1")
        self.assertGreater(int(self.redis.command("TTL", key)), DAY - 10)
        self.redis.command("INCRBY", key, LIMIT - 2)
        self.assertTrue(asker.passes("fixed_window"))
        self.assertFalse(asker.passes("fixed_window"), "what the other counted is in it")
        self.assertEqual(self.redis.command("GET", key), str(LIMIT + 1))

    def test_every_key_expires(self):
        self.start(1, "--store-keys", "compact", "--key-prefix", "p:")
        asker = Asker(self.nodes[0])
        for key in (*ALGORITHMS, "strict", "spread", "list"):
            asker.ask(key)
        self.assertEqual(int(self.redis.command("DBSIZE")), len(ALGORITHMS) + 4)
        volatile = self.redis.command("INFO", "keyspace")
        self.assertIn(f"expires={len(ALGORITHMS) + 4}", volatile)
        self.assertEqual(self.redis.command("EVAL", "return #redis.call('KEYS', 'p:*')", "0"), str(len(ALGORITHMS) + 4))

    def test_refusals_are_repeated_without_asking_the_store(self):
        self.start(1)
        asker = Asker(self.nodes[0])
        asker.ask("gcra", hits=LIMIT)
        for _ in range(50):
            self.assertFalse(asker.passes("gcra"))
        self.assertGreaterEqual(figure(self.nodes[0], "store_denied_hits"), 40)

    def test_one_script_call_serves_all_of_a_request(self):
        self.start(1)
        asker = Asker(self.nodes[0])
        asker.ask("gcra", "sliding_window", "sliding_log", "token_bucket")
        self.assertEqual(figure(self.nodes[0], "store_script_calls"), 1)
        self.assertEqual(figure(self.nodes[0], "store_script_charges"), 4)

    def test_limits_per_second_have_a_store_of_their_own_where_that_is_set(self):
        common, seconds = self.keep(RedisServer(self.directory, "common")), self.keep(RedisServer(self.directory, "sec"))
        rules = """domain: d
descriptors:
  - {key: second, rate_limit: {unit: second, requests_per_unit: 9}}
  - {key: day, rate_limit: {unit: day, requests_per_unit: 9}}
"""
        variables = [f"REDIS_URL={common.address}", "REDIS_SOCKET_TYPE=tcp", "REDIS_PERSECOND=true",
                     f"REDIS_PERSECOND_URL={seconds.address}", "REDIS_PERSECOND_SOCKET_TYPE=tcp"]
        node = self.keep(Penstock(self.directory, "node", rules, environment=variables,
                                  options=["--store-deadline-ms", "5000"]))
        self.assertTrue(Asker(node).passes("second", "day"))
        self.assertRegex(common.command("KEYS", "*"), r"^d_day_v_\d+$")
        self.assertRegex(seconds.command("KEYS", "*"), r"^d_second_v_\d+$")

    def test_named_store_keeps_the_limits_that_name_it(self):
        common, big = self.keep(RedisServer(self.directory, "common")), self.keep(RedisServer(self.directory, "big"))
        settings = self.directory / "settings.yaml"
        settings.write_text(f"stores:\n  big: {{url: '{big.url}'}}\n")
        rules = """domain: d
descriptors:
  - {key: here, rate_limit: {unit: day, requests_per_unit: 9, algorithm: gcra}}
  - {key: there, rate_limit: {unit: day, requests_per_unit: 9, algorithm: gcra, store: big}}
"""
        node = self.penstock(rules, options=["--store", common.url, "--settings", str(settings),
                                             "--store-deadline-ms", "5000"])
        self.assertTrue(Asker(node).passes("here", "there"))
        self.assertEqual((common.command("DBSIZE"), big.command("DBSIZE")), ("1", "1"))
