#!/usr/bin/env python3
"""A service over loopback with its assets in a bucket of a store that others wrote.

usage: buckets.py DIPTYCH moto|seaweedfs [WEED]

WEED is the program of SeaweedFS. Prints what was tried. Where an answer or the bucket is not as it
should be, it fails.
"""

import contextlib, hashlib, json, os, shutil, signal, ssl, socket, subprocess, sys, tempfile, time
import urllib.error, urllib.request

import boto3
from botocore.config import Config

CONTAINER = "iCloud.local.diptych"
PATH = f"/database/1/{CONTAINER}/development/private/"
ZONE = {"zoneName": "notes"}
# Calls that prepare the bucket and its user, before moto asks who calls.
PREPARATIONS = 3
# moto, whose objects come from three days ago while the file of the first argument is there. It
# decodes a query before it signs it, and so refuses AWS's own client, too: it is spelt again.
STORE = """
import datetime, os, sys, urllib.parse
import moto.iam.access_control, moto.s3.models
from moto.server import main
now = moto.s3.models.utcnow
moto.s3.models.utcnow = lambda: now() - datetime.timedelta(days=3 * os.path.exists(sys.argv[1]))
made = moto.iam.access_control.IAMRequestBase.__init__
def make(self, path, **rest):
    path, mark, query = path.partition("?")
    items = [item.partition("=") for item in query.split("&") if item]
    items = [(name, urllib.parse.quote(urllib.parse.unquote(value), safe="-_.~"))
             for name, _, value in items]
    query = "&".join("=".join(item) for item in items)
    made(self, path=path + mark + query, **rest)
moto.iam.access_control.IAMRequestBase.__init__ = make
main(["-H", "127.0.0.1", "-p", sys.argv[2]])
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(test, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if test():
                return
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit(f"{what} did not come")


def require(is_true, what):
    if not is_true:
        sys.exit(what)


def client(address, kind, access, secret):
    return boto3.client(kind, endpoint_url=address, region_name="us-east-1",
                        aws_access_key_id=access, aws_secret_access_key=secret,
                        config=Config(retries={"max_attempts": 1},
                                      s3={"addressing_style": "path"}))


class Store:
    """A process with a bucket, and a user who may put, get, delete and list in it."""

    def lay(self, key, data, is_old):
        """Puts an object there past the service, as if three days ago where it is old."""
        with self.days(is_old, key):
            self.unasked(lambda s3: s3.put_object(Bucket="shelf", Key=key, Body=data))

    def objects(self):
        found = self.unasked(lambda s3: s3.list_objects_v2(Bucket="shelf")).get("Contents", [])
        return {each["Key"]: each["Size"] for each in found}


class Moto(Store):
    """It checks signatures, and what each key may do."""

    def __init__(self, folder):
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        log = open(os.path.join(folder, "moto.log"), "w")
        environment = dict(os.environ, INITIAL_NO_AUTH_ACTION_COUNT=str(PREPARATIONS))
        self.past = os.path.join(folder, "past")
        self.process = subprocess.Popen(
            [sys.executable, "-c", STORE, self.past, str(self.port)],
            stdout=log, stderr=log, env=environment)
        wait_for(lambda: socket.create_connection(("127.0.0.1", self.port), 1), "moto")
        iam = client(self.address, "iam", "x", "y")
        iam.create_user(UserName="service")
        policy = {"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Resource": "*",
             "Action": ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:ListBucket"]}]}
        iam.put_user_policy(UserName="service", PolicyName="assets",
                            PolicyDocument=json.dumps(policy))
        key = iam.create_access_key(UserName="service")["AccessKey"]
        self.keys = key["AccessKeyId"], key["SecretAccessKey"]

    def ask_nobody(self, count):
        """The next calls are let through unasked, so that this trial can look by itself."""
        request = urllib.request.Request(f"{self.address}/moto-api/reset-auth",
                                         str(count).encode(), {"Content-Type": "text/plain"})
        urllib.request.urlopen(request).read()

    def unasked(self, call):
        self.ask_nobody(1)
        try:
            return call(client(self.address, "s3", "x", "y"))
        finally:
            self.ask_nobody(0)

    @contextlib.contextmanager
    def days(self, are_past, key):
        if are_past:
            open(self.past, "w").close()
        try:
            yield
        finally:
            if are_past:
                os.unlink(self.past)


class SeaweedFS(Store):
    """Its master, volume, filer and S3 servers in one process. It checks signatures, and in which
    buckets a key may do what."""

    keys = "service", "secret of the service"
    administrator = "administrator", "secret of the administrator"

    def __init__(self, folder):
        self.weed, self.folder = sys.argv[3], folder
        data, settings = os.path.join(folder, "weed"), os.path.join(folder, "weed.json")
        os.mkdir(data)
        with open(settings, "w") as file:
            json.dump({"identities": [
                {"name": name, "credentials": [{"accessKey": access, "secretKey": secret}],
                 "actions": actions} for name, (access, secret), actions in (
                    ("service", self.keys, ["Read:shelf", "Write:shelf", "List:shelf"]),
                    ("administrator", self.administrator, ["Admin"]))]}, file)
        ports = {name: free_port() for name in (
            "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port",
            "filer.port.grpc", "s3.port", "s3.port.grpc")}
        self.master, self.filer = (
            f"127.0.0.1:{ports[f'{name}.port']}.{ports[f'{name}.port.grpc']}"
            for name in ("master", "filer"))
        self.address = f"http://127.0.0.1:{ports['s3.port']}"
        log = open(os.path.join(folder, "weed.log"), "w")
        # It would tell its makers that it runs.
        self.process = subprocess.Popen(
            [self.weed, "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={data}", "-s3",
             f"-s3.config={settings}", "-s3.port.iceberg=0", "-s3.port.lance=0",
             "-master.telemetry=false", "-master.volumeSizeLimitMB=256"]
            + [f"-{name}={port}" for name, port in ports.items()], stdout=log, stderr=log)
        wait_for(lambda: urllib.request.urlopen(f"{self.address}/healthz", timeout=5), "weed")

    def unasked(self, call):
        return call(client(self.address, "s3", *self.administrator))

    def time(self, key):
        head = self.unasked(lambda s3: s3.head_object(Bucket="shelf", Key=key))
        return int(head["LastModified"].timestamp())

    def shell(self, words, test=lambda: True):
        """Keeps it open until the test holds: it goes without ending what it began."""
        with subprocess.Popen(
                [self.weed, "shell", "-master", self.master, "-filer", self.filer],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as shell:
            shell.stdin.write(words.encode())
            shell.stdin.flush()
            wait_for(test, words)

    @contextlib.contextmanager
    def days(self, are_past, key):
        """It has no clock to turn: the time of the object is set back in a copy of its entry."""
        yield
        if not are_past:
            return
        then = self.time(key)
        copy = os.path.join(self.folder, "entries")
        folder = f"/buckets/shelf/{os.path.dirname(key)}"
        self.shell(f"fs.meta.save -o {copy} {folder}\n")
        with open(copy, "rb") as file:
            entries = file.read()
        former = entries.replace(MTIME + varint(then), MTIME + varint(then - 3 * 86_400))
        require(former != entries, f"{key} has no time in its entry")
        with open(copy, "wb") as file:
            file.write(former)
        self.shell(f"fs.meta.load {copy}\n", lambda: self.time(key) < then)


# The tag of the field `mtime` in an entry's attributes.
MTIME = b"\x10"


def varint(number):
    """As protobuf spells it."""
    spelt = bytearray()
    while number > 0x7F:
        spelt.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(spelt + bytes([number]))


class Service:
    def __init__(self, program, folder, store, keys, name="data"):
        self.program, self.folder, self.store, self.name = program, folder, store, name
        self.keys = os.path.join(folder, f"{name}.keys")
        descriptor = os.open(self.keys, os.O_WRONLY | os.O_CREAT, 0o600)
        with open(descriptor, "w") as file:
            file.write(f"access: {keys[0]}\nsecret: {keys[1]}\n")
        self.data = os.path.join(folder, name)
        self.start()

    def start(self):
        ready = os.path.join(self.folder, f"{self.name}.ready")
        if os.path.exists(ready):
            os.unlink(ready)
        self.log = open(os.path.join(self.folder, f"{self.name}.log"), "a")
        self.process = subprocess.Popen(
            [self.program, "serve", "--data", self.data, "--listen", "127.0.0.1:0",
             "--assets", "s3://shelf/assets", "--assets-endpoint", self.store.address,
             "--assets-keys", self.keys, "--ready-file", ready],
            stdout=self.log, stderr=self.log)
        wait_for(lambda: os.path.exists(ready) and os.path.getsize(ready), "the service")
        with open(ready) as file:
            self.port = json.load(file)["port"]
        with open(os.path.join(self.data, f"{CONTAINER}.tokens")) as file:
            tokens = dict(line.strip().split(": ", 1) for line in file
                          if line.startswith(("api: ", "user: ")))
        self.headers = {"X-Diptych-API-Token": tokens["api"],
                        "X-Diptych-User-Token": tokens["user"]}
        self.context = ssl.create_default_context(
            cafile=os.path.join(self.data, "tls", "authority.pem"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def forget_copies(self):
        shutil.rmtree(os.path.join(self.data, "assets-cache"), ignore_errors=True)

    def copies(self):
        """Bytes of the contents that are kept beside the service."""
        return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in
                   os.walk(os.path.join(self.data, "assets-cache")) for name in names)

    def compare(self, *words, status=0):
        """What `diptych service assets` tells, the last line for all."""
        done = subprocess.run(
            [self.program, "service", "assets", "--data", self.data, "--json", "--assets",
             "s3://shelf/assets", "--assets-endpoint", self.store.address, "--assets-keys",
             self.keys, *words], capture_output=True, text=True)
        require(done.returncode == status, f"service assets ends with {done.returncode}: {done.stderr}")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [line["object"] for line in lines[:-1]], lines[-1]

    def call(self, url, body=None, headers=None, method=None):
        if url.startswith("/"):
            url = f"https://127.0.0.1:{self.port}{url}"
        request = urllib.request.Request(url, body, {**self.headers, **(headers or {})},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=120, context=self.context) as answer:
                if method == "HEAD":
                    return answer.status, int(answer.headers["Content-Length"])
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def ask(self, operation, body):
        status, text = self.call(PATH + operation, json.dumps(body).encode(),
                                 {"Content-Type": "application/json"})
        require(status == 200, f"{operation} is answered {status}: {text[:300]}")
        return json.loads(text)

    def upload(self, name, data):
        """What the service answers to the bytes, as they come."""
        made = self.ask("assets/upload", {"zoneID": ZONE, "tokens": [
            {"recordName": name, "recordType": "Note", "fieldName": "picture"}]})
        return self.call(made["tokens"][0]["url"], data)

    def save(self, name, data):
        status, text = self.upload(name, data)
        require(status == 200, f"an upload is answered {status}: {text[:300]}")
        value = json.loads(text)["singleFile"]
        answer = self.ask("records/modify", {"zoneID": ZONE, "operations": [
            {"operationType": "forceReplace", "record": {
                "recordName": name, "recordType": "Note",
                "fields": {"picture": {"value": value, "type": "ASSETID"}}}}]})
        require("serverErrorCode" not in answer["records"][0], f"saving: {answer}")

    def fetch(self, name, headers=None, method=None):
        answer = self.ask("records/lookup", {"zoneID": ZONE, "records": [{"recordName": name}]})
        url = answer["records"][0]["fields"]["picture"]["value"]["downloadURL"]
        return self.call(url, headers=headers, method=method)


def main():
    program, make = sys.argv[1], {"moto": Moto, "seaweedfs": SeaweedFS}[sys.argv[2]]
    folder = tempfile.mkdtemp(prefix="diptych-buckets-")
    started = []
    try:
        store = make(folder)
        started.append(store.process)
        store.unasked(lambda s3: s3.create_bucket(Bucket="shelf"))
        service = Service(program, folder, store, store.keys)
        started.append(service.process)
        service.ask("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": ZONE}}]})

        contents = {f"n{size}": os.urandom(size) for size in (1, 5_000, 3 << 20, 40 << 20)}
        for name, data in contents.items():
            service.save(name, data)
        digests = {hashlib.sha256(data).hexdigest() for data in contents.values()}
        names = {key.removeprefix("assets/").replace("/", "") for key in store.objects()}
        require(names == digests, f"the bucket has {sorted(names)}")
        print(f"{len(contents)} uploads stand in the bucket under their checksums")

        service.stop()
        service.forget_copies()
        service.start()
        started.append(service.process)
        for name, data in contents.items():
            status, found = service.fetch(name)
            require(status == 200 and found == data, f"{name} came back as {status}, {len(found)} bytes")
        print("all came back from it after the service had lost its copies")

        service.stop()
        service.forget_copies()
        service.start()
        started.append(service.process)
        status, found = service.fetch(f"n{40 << 20}", {"Range": "bytes=1000000-1000099"})
        require(status == 206 and found == contents[f"n{40 << 20}"][1_000_000:1_000_100],
                f"a range is answered {status}, {len(found)} bytes")
        require(service.copies() == 0, f"a range of 100 bytes brought {service.copies()} here")
        status, found = service.fetch(f"n{40 << 20}", {"Range": "bytes=5000000-"})
        require(status == 206 and found == contents[f"n{40 << 20}"][5_000_000:],
                f"a long range is answered {status}, {len(found)} bytes")
        require(service.copies() == 0, f"a long range brought {service.copies()} bytes here")
        status, _ = service.fetch(f"n{40 << 20}", {"Range": f"bytes={40 << 20}-"})
        require(status == 416, f"a range past the end is answered {status}")
        print("ranges of one that is not here pass through, and leave no copy")

        for name, data in contents.items():
            status, size = service.fetch(name, method="HEAD")
            require(status == 200 and size == len(data), f"HEAD is answered {status}, {size} bytes")
        require(service.copies() == 0, f"HEAD brought {service.copies()} bytes here")
        print("HEAD tells each one's size, and brings none of them here")

        stray = {name: f"assets/{name * 2}/{name * 62}" for name in "abc"}
        store.lay(stray["a"], os.urandom(70_000), is_old=True)
        store.lay(stray["b"], os.urandom(80_000), is_old=True)
        store.lay("assets/readme.txt", b"mine", is_old=True)
        store.lay(stray["c"], os.urandom(90_000), is_old=False)
        names, report = service.compare()
        require(names == [stray[each].removeprefix("assets/") for each in "ab"]
                and report["objects"] == len(contents) + 3 and report["bytes"] == 150_000
                and report["young"] == 1, f"orphans: {names}, {report}")
        require(len(store.objects()) == len(contents) + 4, "looking for orphans removed something")
        _, report = service.compare("--yes")
        left = set(store.objects())
        require(report["removed"] == 2 and not left & {stray["a"], stray["b"]}
                and left >= {stray["c"], "assets/readme.txt"} and len(left) == len(contents) + 2,
                f"removing orphans: {report}, left {sorted(left)}")
        for key in (stray["c"], "assets/readme.txt"):
            store.unasked(lambda s3: s3.delete_object(Bucket="shelf", Key=key))
        print("two old orphans are listed and go; a young one, a stranger and the rest stay")

        lost = f"assets/{hashlib.sha256(contents['n5000']).hexdigest()}"
        lost = f"{lost[:9]}/{lost[9:]}"
        store.unasked(lambda s3: s3.delete_object(Bucket="shelf", Key=lost))
        names, report = service.compare(status=1)
        require(names == [lost.removeprefix("assets/")] and report["missing"] == 1,
                f"missing: {names}, {report}")
        service.forget_copies()
        status, _ = service.fetch("n5000", method="HEAD")
        require(status == 404, f"HEAD of a lost object is answered {status}")
        store.lay(lost, contents["n5000"], is_old=False)
        names, report = service.compare()
        require(names == [] and report["missing"] == 0, f"missing still: {names}, {report}")
        print("an object that a record names and the bucket lost is told until it is back")

        forged = Service(program, folder, store, (store.keys[0], "not" + store.keys[1]), "forged")
        started.append(forged.process)
        forged.ask("zones/modify", {"operations": [
            {"operationType": "create", "zone": {"zoneID": ZONE}}]})
        status, text = forged.upload("n", os.urandom(9_000))
        require(status != 200, "an upload under a wrong key was answered as if it had been kept")
        require(len(store.objects()) == len(contents), "an upload under a wrong key is in the bucket")
        print(f"a wrong secret is refused by the store, and the upload answered {status}: "
              f"{json.loads(text).get('serverErrorCode')}")
    finally:
        for process in reversed(started):
            if process.poll() is None:
                process.terminate()
        for process in started:
            process.wait()
        if sys.exc_info()[0] is None:
            shutil.rmtree(folder)
        else:
            print(f"logs: {folder}", file=sys.stderr)


main()
