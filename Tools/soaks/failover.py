#!/usr/bin/env python3
"""Three PostgreSQL nodes under patroni and etcd on the loopback, two services over all three, devices
and writers at work while the primary dies again and again: in turns its server alone, and the node
with its patroni. Then all devices are equal by plain SQL, and no acknowledged record is lost.

usage: failover.py DIPTYCH FAILOVERS SEED
"""

import collections, contextlib, json, os, shutil, signal, subprocess, sys, tempfile, time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import processes, several

DEVICES = ["desk", "phone", "tablet", "watch"]
WRITERS = 4
NODES = ["one", "two", "three"]
# The shortest that patroni takes.
LEASE_SECONDS = 20


class Store:
    """One etcd, which says who is primary. It stays."""

    def __init__(self, folder):
        client, peer = several.free_ports(2)
        self.client = f"127.0.0.1:{client}"
        self.log = open(os.path.join(folder, "etcd.log"), "w")
        self.process = subprocess.Popen(
            ["etcd", "--name", "one", "--data-dir", os.path.join(folder, "etcd"),
             "--listen-client-urls", f"http://{self.client}",
             "--advertise-client-urls", f"http://{self.client}",
             "--listen-peer-urls", f"http://127.0.0.1:{peer}",
             "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
             "--initial-cluster", f"one=http://127.0.0.1:{peer}", "--unsafe-no-fsync"],
            stdout=self.log, stderr=self.log)

    def end(self):
        self.process.kill()
        self.process.wait()


class Node:
    """A patroni and the server that it looks after."""

    def __init__(self, folder, name, store):
        self.name = name
        self.port, self.rest = several.free_ports(2)
        self.home = os.path.join(folder, name)
        self.data = os.path.join(self.home, "data")
        os.mkdir(self.home)
        several.give_to_server(self.home)
        self.settings = os.path.join(folder, name + ".json")
        with open(self.settings, "w") as file:
            json.dump(self.configuration(store), file)
        os.chmod(self.settings, 0o644)
        self.log = open(os.path.join(folder, f"{name}.log"), "a")
        self.process = None

    def configuration(self, store):
        """patroni reads YAML, of which JSON is a part."""
        return {
            "scope": "records", "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}",
                        "connect_address": f"127.0.0.1:{self.rest}"},
            "etcd3": {"host": store.client},
            "bootstrap": {
                "dcs": {
                    "ttl": LEASE_SECONDS, "loop_wait": 2, "retry_timeout": 5,
                    "primary_start_timeout": 0, "master_start_timeout": 0,
                    "maximum_lag_on_failover": 1048576,
                    "synchronous_mode": True, "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {
                        "max_connections": 100, "wal_log_hints": "on",
                        "synchronous_commit": "on", "shared_buffers": "32MB"}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"],
                "pg_hba": ["host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": self.data, "bin_dir": several.programs(),
                "pgpass": os.path.join(self.home, "pgpass"),
                "authentication": {"superuser": {"username": "postgres"},
                                   "replication": {"username": "postgres"},
                                   "rewind": {"username": "postgres"}},
                "parameters": {"unix_socket_directories": ""}},
        }

    def start(self):
        self.process = subprocess.Popen(
            several.as_server("patroni", self.settings), stdout=self.log, stderr=self.log, cwd="/")

    def state(self):
        with contextlib.suppress(OSError, ValueError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}/patroni", timeout=3) as answer:
                return json.load(answer)
        return {}

    def kill_server(self):
        """As a crash does: postgres' first process by SIGKILL, and the rest of it follow."""
        with contextlib.suppress(OSError, ValueError):
            with open(os.path.join(self.data, "postmaster.pid")) as file:
                os.kill(int(file.readline()), signal.SIGKILL)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.kill_server()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(30)
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.kill_server()


class Nodes:
    def __init__(self, folder):
        self.store = Store(folder)
        self.nodes = [Node(folder, name, self.store) for name in NODES]
        for node in self.nodes:
            node.start()
        several.until(self.is_whole, 180, "patroni does not bring up three nodes")
        ports = ",".join(str(node.port) for node in self.nodes)
        hosts = ",".join("127.0.0.1" for _ in self.nodes)
        self.base = (f"postgresql://postgres@/%s?host={hosts}&port={ports}"
                     "&target_session_attrs=read-write")
        several.sql(self.base % "postgres", "CREATE DATABASE records")
        self.address = self.base % "records"

    def primary(self):
        return next((node for node in self.nodes
                     if node.state().get("role") in ("master", "primary")
                     and node.state().get("state") == "running"), None)

    def is_whole(self):
        """A primary, and two that follow, of which one is synchronous."""
        states = [node.state() for node in self.nodes]
        running = [state for state in states if state.get("state") in ("running", "streaming")]
        return (len(running) == len(self.nodes) and self.primary() is not None
                and any(state.get("sync_standby") for state in states)
                and len({state.get("timeline") for state in states}) == 1)

    def end(self):
        for node in self.nodes:
            node.end()
        self.store.end()


def keep_logs(folder):
    """Where BROKEN was said, what everybody said about it."""
    kept = tempfile.mkdtemp(prefix="diptych-failover-logs-")
    for name in os.listdir(folder):
        if name.endswith(".log"):
            shutil.copy(os.path.join(folder, name), kept)
    return kept


def main():
    program, failovers, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="diptych-failover-") as folder:
        os.chmod(folder, 0o755)
        soak, nodes, writers = processes.Soak(program, folder, seed, DEVICES), None, []
        try:
            nodes = Nodes(folder)
            services = [several.Service(soak, number, nodes.address) for number in range(2)]
            several.make_zone(services[0])
            soak.begin(services)
            writers = [several.Writer(services, number, seed) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            waits = collections.defaultdict(list)

            def fail_over():
                several.until(nodes.is_whole, 300, "the nodes do not come together again")
                node, began = nodes.primary(), time.monotonic()
                is_node = len(waits["server"]) > len(waits["node"])
                node.kill() if is_node else node.kill_server()
                several.until(lambda: nodes.primary() not in (None, node) or (
                    not is_node and nodes.primary() is not None
                    and time.monotonic() - began > 10), 120, "nobody takes over")
                several.until(
                    lambda: all(writer.last > began + 1 for writer in writers), 120,
                    "writers are not answered any more")
                waits["node" if is_node else "server"].append((began, time.monotonic()))
                if is_node:
                    node.start()
                print(f"  the primary's {'node' if is_node else 'server'} killed: "
                      f"{max(writer.silence(began, time.monotonic()) for writer in writers):.1f} s",
                      flush=True)

            for _ in range(failovers):
                soak.turn_among(services, fail_over)
            several.until(nodes.is_whole, 300, "the nodes do not come together again")
            several.finish(writers)
            soak.settle_everywhere(services)
            broken, rows = soak.check("extended")
            broken += several.check_writers(services[1], writers, nodes.address)
            epochs = several.sql(nodes.address, "SELECT count(DISTINCT epoch) FROM epochs")
            if broken:
                print("logs in", keep_logs(folder))
        except SystemExit:
            print("logs in", keep_logs(folder))
            raise
        finally:
            for writer in writers:
                writer.is_over = True
            soak.end()
            if nodes:
                nodes.end()
    errors = sum((writer.errors for writer in writers), collections.Counter())
    print(f"{failovers} times the primary was killed, {len(soak.memory.made)} books made on "
          f"{len(DEVICES)} devices, {rows} rows and pairs compared; "
          f"{sum(writer.count for writer in writers)} requests of writers, "
          f"{sum(len(writer.acknowledged) for writer in writers)} records acknowledged, "
          f"{epochs} epochs")
    print("interrupted: " + ", ".join(f"{count} {name}" for name, count in errors.most_common()))
    for kind, times in waits.items():
        print(f"without an answer, the {kind} killed: " + several.told(
            [max(writer.silence(*each) for writer in writers) for each in times]))
    for line in broken:
        print("BROKEN", line)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
