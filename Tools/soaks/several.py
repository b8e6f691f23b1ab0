"""Several services over one PostgreSQL database, for the soaks that kill one of them or the database."""

import collections, contextlib, http.client, json, os, pwd, random, signal, socket, subprocess, sys
import threading, time

PROGRAMS = "/usr/lib/postgresql"
CONTAINER = "iCloud.local.diptych"
PATH = f"/database/1/{CONTAINER}/development/private/"
ZONE = {"zoneName": "z"}


def programs():
    """Where the newest PostgreSQL of the distribution's is."""
    versions = sorted((int(name) for name in os.listdir(PROGRAMS)
                       if os.path.exists(f"{PROGRAMS}/{name}/bin/postgres")), reverse=True) \
        if os.path.isdir(PROGRAMS) else []
    if not versions:
        sys.exit("PostgreSQL's server is not installed; Tools/setup does that.")
    return f"{PROGRAMS}/{versions[0]}/bin"


def as_server(*words):
    """A PostgreSQL server may not run as root."""
    if os.getuid() != 0:
        return list(words)
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", *words]


def give_to_server(path):
    if os.getuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(path, user.pw_uid, user.pw_gid)


def free_ports(count):
    """Ports of the loopback that nobody has now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """One server of the script's own, whose commits are on the disk."""

    def __init__(self, folder, *settings):
        """`settings` are more of the server's, as `name=value`."""
        self.folder, self.data = folder, os.path.join(folder, "cluster")
        self.settings = [word for setting in settings for word in ("-c", setting)]
        os.mkdir(self.data)
        give_to_server(self.data)
        self.port = free_ports(1)[0]
        with open(os.path.join(folder, "initdb.log"), "w") as log:
            subprocess.run(
                as_server(f"{programs()}/initdb", "-D", self.data, "-A", "trust", "-U", "diptych",
                          "-E", "UTF8", "--locale=C.UTF-8", "-k"), stdout=log, stderr=log,
                check=True, cwd="/")
        self.log = open(os.path.join(folder, "postgres.log"), "w")
        self.start()
        self.address = f"postgresql://diptych@127.0.0.1:{self.port}/records"
        sql(f"postgresql://diptych@127.0.0.1:{self.port}/postgres", "CREATE DATABASE records")

    def start(self):
        self.process = subprocess.Popen(
            as_server(f"{programs()}/postgres", "-D", self.data, "-p", str(self.port),
                      "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
                      "-c", "max_connections=200", *self.settings), stdout=self.log, stderr=self.log, cwd="/")
        until(lambda: answers(f"postgresql://diptych@127.0.0.1:{self.port}/postgres"), 60,
              "the PostgreSQL server does not answer")

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()


def sql(address, text):
    done = subprocess.run(
        [f"{programs()}/psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", address, "-c",
         text], capture_output=True, text=True, env={**os.environ, "PGCONNECT_TIMEOUT": "3"})
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def answers(address):
    with contextlib.suppress(RuntimeError):
        return sql(address, "SELECT 1") == "1"
    return False


def until(condition, seconds, words):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(words)
        time.sleep(0.1)


class Service:
    """A `diptych serve` with a folder of its own, which comes up again at the same port."""

    def __init__(self, soak, number, address):
        self.soak, self.number, self.address, self.port = soak, number, address, 0
        self.data = os.path.join(soak.folder, f"data{number}")
        self.ready = os.path.join(soak.folder, f"ready{number}.json")
        self.process = None
        self.start()
        self.await_ready()

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.ready)
        self.process = self.soak.spawn(
            "serve", "--data", self.data, "--database", self.address, "--assets",
            os.path.join(self.soak.folder, "assets"), "--listen", f"127.0.0.1:{self.port}",
            "--rate", "1000000000", "--ready-file", self.ready, "--quiet")

    def is_ready(self):
        return os.path.exists(self.ready) and os.path.getsize(self.ready) > 0

    def await_ready(self):
        until(lambda: self.is_ready() or self.process.poll() is not None, 120,
              f"service {self.number} does not come up: {self.soak.errors()}")
        if self.process.poll() is not None:
            sys.exit(f"service {self.number} ended: {self.soak.errors()}")
        with open(self.ready) as file:
            facts = json.load(file)
        self.port = facts["port"]
        self.options = ["--service", facts["url"], "--container", facts["container"],
                        "--ca-file", facts["caFile"], "--token-file", facts["tokenFile"]]
        with open(facts["tokenFile"]) as file:
            words = dict(line.strip().split(": ", 1) for line in file
                         if line.startswith(("api: ", "user: ")))
        self.headers = {"X-Diptych-API-Token": words["api"],
                        "X-Diptych-User-Token": words["user"]}
        self.authority = facts["caFile"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def connection(self):
        import ssl
        context = ssl.create_default_context(cafile=self.authority)
        return http.client.HTTPSConnection(
            "localhost", self.port, timeout=60, context=context)


def ask(service, connection, operation, body):
    connection.request("POST", PATH + operation, json.dumps(body), service.headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


class Writer(threading.Thread):
    """Sends requests of one to five records to one service after another, until told to stop. One
    whose service does not answer goes to the next."""

    def __init__(self, services, number, seed):
        super().__init__(daemon=True)
        self.services, self.number = services, number
        self.random = random.Random(seed * 100 + number)
        self.acknowledged, self.sent = {}, {}
        self.errors, self.is_over, self.count = collections.Counter(), False, 0
        self.last, self.gaps = time.monotonic(), []

    def run(self):
        connection, turn = None, self.number
        while not self.is_over:
            service = self.services[turn % len(self.services)]
            try:
                connection = connection or service.connection()
                if self.write(service, connection):
                    now = time.monotonic()
                    self.gaps.append((self.last, now))
                    self.last = now
                    continue
                time.sleep(0.05)
            except (OSError, http.client.HTTPException) as error:
                self.errors[type(error).__name__] += 1
                if connection:
                    connection.close()
                connection, turn = None, turn + 1
                time.sleep(0.02)

    def write(self, service, connection):
        names = [f"w{self.number}-{self.random.randrange(200)}"
                 for _ in range(self.random.randint(1, 5))]
        self.count += 1
        text = f"{self.count} " + "x" * self.random.randrange(500)
        for name in names:
            self.sent[name] = self.count
        status, answer = ask(service, connection, "records/modify", {
            "zoneID": ZONE, "atomic": True, "operations": [
                {"operationType": "forceReplace", "record": {
                    "recordName": name, "recordType": "Note", "fields": {"text": {"value": text}}}}
                for name in dict.fromkeys(names)]})
        if status != 200:
            self.errors[answer.get("serverErrorCode", status)] += 1
            return False
        for record in answer["records"]:
            if "recordName" in record and "serverErrorCode" not in record:
                self.acknowledged[record["recordName"]] = self.count
        return True

    def silence(self, start, end):
        """The longest time without an answer that began between two moments."""
        return max((to - since for since, to in self.gaps if since < end and to > start), default=0)


def check_writers(service, writers, address):
    """What was acknowledged and is not there, at one service and by plain SQL."""
    broken, found = [], {}
    connection = service.connection()
    for writer in writers:
        names = sorted(writer.sent)
        for start in range(0, len(names), 200):
            _, answer = ask(service, connection, "records/lookup", {
                "zoneID": ZONE, "records": [{"recordName": n} for n in names[start:start + 200]]})
            for record in answer["records"]:
                if "fields" in record:
                    found[record["recordName"]] = int(
                        record["fields"]["text"]["value"].split(" ")[0])
        for name, number in writer.acknowledged.items():
            if found.get(name, 0) < number:
                broken.append(f"{name}: write {number} was acknowledged, {found.get(name)} is there")
    counted, looked = (sql(address, text) for text in (
        "SELECT sum(records), sum(bytes) FROM zone_usage",
        "SELECT count(*), sum(length(fields)) FROM records WHERE NOT deleted"))
    if counted != looked:
        broken.append(f"the counters say {counted}, the records {looked}")
    doubles = sql(address, "SELECT count(*) FROM (SELECT zone, change FROM records "
                           "GROUP BY 1, 2 HAVING count(*) > 1) AS twice")
    if doubles != "0":
        broken.append(f"{doubles} numbers were given twice")
    return broken


def make_zone(service):
    status, answer = ask(service, service.connection(), "zones/modify", {
        "operations": [{"operationType": "create", "zone": {"zoneID": ZONE}}]})
    if status != 200:
        sys.exit(f"no zone: {answer}")


def finish(writers):
    for writer in writers:
        writer.is_over = True
    for writer in writers:
        writer.join(120)


def told(seconds):
    seconds = sorted(seconds)
    return (f"median {seconds[len(seconds) // 2]:.1f} s, longest {seconds[-1]:.1f} s"
            if seconds else "none")
